import { Command, CommanderError, Option } from "commander";
import type { LoadedConfig } from "../config/config.ts";
import { resolveHome } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { OPTIONS } from "../config/schema.ts";
import { boolean } from "../config/value-types.ts";
import { packageVersion } from "../config/version.ts";
import type { InitOptions } from "./commands/init.ts";
import type { TokenOptions } from "./commands/token.ts";
import type { CliContext } from "./context.ts";
import { describeError, exitCodeOf } from "./errors.ts";

/** Values of one command's flags as commander gives them. */
type Flags = Readonly<Record<string, unknown>>;

/**
 * Runs the command `args` name; the exit code. Errors have been printed by then, one line each, with their stack only at
 * log level debug.
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  let logLevel = context.environment["EVMINT_LOG_LEVEL"];
  const program = buildProgram(context, (loaded) => {
    logLevel = loaded.config.log.level;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has printed its own errors, and help is one of them.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const verbose = logLevel === "debug" || logLevel === "trace";
    const shown = verbose && error instanceof Error ? error.stack : describeError(error);
    context.stderr.write(`evmintd: ${shown}\n`);
    return exitCodeOf(error);
  }
}

function buildProgram(context: CliContext, onLoaded: (loaded: LoadedConfig) => void): Command {
  const load = (flags: Flags): LoadedConfig => {
    const loaded = configOf(flags, context);
    onLoaded(loaded);
    return loaded;
  };
  const program = new Command("evmintd")
    .description("An EVM chain node: JSON-RPC over HTTP, WebSocket and IPC.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text.replace(/^error: /, "evmintd: ")),
    })
    .configureHelp({ showGlobalOptions: true });
  // Commands inherit the settings above only when made by `program.command`.
  addNodeCommands(program, context, load);
  addChainCommands(program, context, load);
  addKeysCommands(program, context, load);
  program
    .command("version")
    .description("print the version")
    .action(() => {
      context.stdout.write(`evmintd ${packageVersion()}\n`);
    });
  return program;
}

type Load = (flags: Flags) => LoadedConfig;

function addNodeCommands(program: Command, context: CliContext, load: Load): void {
  withSettings(withHome(program.command("start")))
    .option(
      "--dev",
      "a dev chain: ten funded accounts, blocks on demand, state kept in ~/.evmint/dev",
    )
    .description("run a node")
    .action(async (flags: Flags) => {
      const { start } = await import("./commands/start.ts");
      await start(load(flags).config, context);
    });

  withHome(program.command("init"))
    .description("make a home with settings and a genesis; never overwrites one")
    .option("--genesis <file>", "geth genesis file")
    .option("--chain-id <number>", "chain id of the built-in genesis (default 9000)")
    .option("--fund <address...>", "accounts that own a million ether in the built-in genesis")
    .action(async (flags: Flags) => {
      const { init } = await import("./commands/init.ts");
      init({ ...(flags as InitOptions), home: homeOf(flags, context) }, context);
    });

  withHome(program.command("token"))
    .description("print a bearer token for private methods")
    .option("--expires <duration>", "how long it is good (default 24h)")
    .option("--namespaces <list>", "what it opens, such as personal,miner (default everything)")
    .option("--dev", "for the dev chain's home")
    .action(async (flags: Flags) => {
      const { printToken } = await import("./commands/token.ts");
      printToken({ home: homeOf(flags, context) }, flags as TokenOptions, context);
    });

  const config = program.command("config").description("settings");
  withSettings(withHome(config.command("show")))
    .option("--dev", "as `start --dev` would have them")
    .option("--origin", "say where each value comes from")
    .description("print every setting in force")
    .action(async (flags: Flags) => {
      const { showConfig } = await import("./commands/config-show.ts");
      showConfig(load(flags), { origin: flags["origin"] === true }, context);
    });
}

function addChainCommands(program: Command, context: CliContext, load: Load): void {
  const commands = () => import("./commands/chain.ts");
  const chainCommand = (parent: Command, name: string) =>
    withSettings(withHome(parent.command(name)), ["log", "state"]).option(
      "--dev",
      "the dev chain's home",
    );

  chainCommand(program, "import <file>")
    .description("execute and append the blocks of an RLP file; goes on where it stopped")
    .action(async (file: string, flags: Flags) =>
      (await commands()).importFile(load(flags).config, file, context),
    );
  chainCommand(program, "export <file> [first] [last]")
    .description("write blocks as RLP, gzipped when the name ends in .gz")
    .action(async (file: string, first: string, last: string, flags: Flags) =>
      (await commands()).exportFile(load(flags).config, file, [first, last], context),
    );
  chainCommand(program, "rollback [blocks]")
    .description("forget the newest blocks (default 1)")
    .action(async (blocks: string | undefined, flags: Flags) =>
      (await commands()).rollback(load(flags).config, blocks ?? "1", context),
    );
  chainCommand(program, "reindex")
    .description("build the index anew from the block log")
    .action(async (flags: Flags) => (await commands()).reindex(load(flags).config, context));
  chainCommand(program.command("db").description("the store"), "check")
    .description("read everything once and compare checksums, hashes and roots")
    .action(async (flags: Flags) => (await commands()).checkDatabase(load(flags).config, context));
}

function addKeysCommands(program: Command, context: CliContext, load: Load): void {
  const keys = program.command("keys").description("the key store");
  const commands = () => import("./commands/keys.ts");
  const keysCommand = (name: string) =>
    withSettings(withHome(keys.command(name)), ["log", "keystore"]).option(
      "--passphrase-file <file>",
      "read passphrases from the lines of a file instead of asking",
    );
  const session = async (flags: Flags) => {
    const { openKeys } = await commands();
    return openKeys(load(flags).config, flags["passphraseFile"] as string | undefined, context);
  };

  keysCommand("new")
    .description("make a key")
    .action(async (flags: Flags) => (await commands()).newKey(await session(flags)));
  keysCommand("list")
    .description("list addresses and files")
    .action(async (flags: Flags) => (await commands()).listKeys(await session(flags)));
  keysCommand("import <file>")
    .description("take a key from a key file or a file with a private key in hex")
    .action(async (file: string, flags: Flags) =>
      (await commands()).importKey(await session(flags), file),
    );
  keysCommand("export <address>")
    .description("print a key file under another passphrase")
    .option("--raw", "print the private key itself")
    .action(async (account: string, flags: Flags) =>
      (await commands()).exportKey(await session(flags), account, { raw: flags["raw"] === true }),
    );
  keysCommand("delete <address>")
    .description("delete a key for good")
    .action(async (account: string, flags: Flags) =>
      (await commands()).deleteKey(await session(flags), account),
    );
  keysCommand("change-password <address>")
    .description("encrypt a key with another passphrase")
    .action(async (account: string, flags: Flags) =>
      (await commands()).changePassphrase(await session(flags), account),
    );
}

function withHome(command: Command): Command {
  return command.option("--home <folder>", "folder of the chain (default ~/.evmint)");
}

/** Makes settings flags of `command`: all, or those of some tables. */
function withSettings(command: Command, tables?: readonly string[]): Command {
  for (const { key, type, default: value, description } of OPTIONS) {
    const table = key.includes(".") ? key.split(".")[0]! : "mempool";
    if (tables !== undefined && !tables.includes(table)) continue;
    // A switch may stand alone; everything else takes a value.
    const form = type === (boolean as unknown) ? "[true|false]" : "<value>";
    command.addOption(
      new Option(`--${key} ${form}`, `${description} (default ${type.print(value)})`).helpGroup(
        `Settings, ${table}:`,
      ),
    );
  }
  return command;
}

function homeOf(flags: Flags, { environment }: CliContext): string {
  const asked = (flags["home"] as string | undefined) ?? environment["EVMINT_HOME"];
  return resolveHome(asked, flags["dev"] === true);
}

function configOf(flags: Flags, context: CliContext): LoadedConfig {
  const settings = OPTIONS.flatMap(({ key }): [string, string | true][] => {
    const value = flags[new Option(`--${key} <value>`).attributeName()];
    return value === undefined ? [] : [[key, value as string | true]];
  });
  return loadConfig({
    home: homeOf(flags, context),
    dev: flags["dev"] === true,
    flags: Object.fromEntries(settings),
    environment: context.environment,
  });
}

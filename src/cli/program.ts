import { isIP } from "node:net";
import { Command, CommanderError, Option } from "commander";
import { nearest } from "../base/primitives/nearest.ts";
import { escapeControlsInLines } from "../base/telemetry/escape-controls.ts";
import type { LoadedConfig } from "../node/config/config.ts";
import { DEFAULTS } from "../node/config/defaults.ts";
import { DEV_FLAG_OPTIONS } from "../node/config/dev-flags.ts";
import { assertHomeFolder, resolveHome } from "../node/config/home.ts";
import { loadConfig } from "../node/config/load.ts";
import { packageVersion } from "../node/config/package.ts";
import { OPTIONS } from "../node/config/schema.ts";
import { fateOfKey } from "../node/config/unknown-keys.ts";
import { boolean, formatHostPort } from "../node/config/value-types.ts";
import { ANVIL_FLAGS } from "./anvil/flags.ts";
import { ANY_SHORT_FLAG, type GivenFlags, isGiven, withAnvilFlags } from "./anvil/flags-of-start.ts";
import type { Settings } from "./anvil/values.ts";
import type { AttachOptions } from "./commands/console.ts";
import type { ExplorerOptions } from "./commands/explorer.ts";
import type { InitOptions } from "./commands/init.ts";
import type { TestnetOptions } from "./commands/testnet.ts";
import type { TokenOptions } from "./commands/token.ts";
import type { CliContext } from "./context.ts";
import { describeError, describeWithStack, exitCodeOf, UsageError } from "./errors.ts";

/** Values of one command's flags as commander gives them. */
type Flags = Readonly<Record<string, unknown>>;

/**
 * Runs the command `args` name; the exit code. Errors have been printed by then, one line each, with their stack only at
 * log level debug.
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  // Its arguments are read as anvil reads them.
  if (args[0] === "anvil") return (await import("./anvil/anvil-command.ts")).runAnvil(args.slice(1), context);
  let logLevel = context.environment["EVMINT_LOG_LEVEL"];
  const showsAll = args.includes(HELP_ALL);
  const invocation = { showsAll, words: new Set(args), flags: flagsAmong(args) };
  const program = buildProgram(context, invocation, (loaded) => {
    logLevel = loaded.config.log.level;
  });
  try {
    await program.parseAsync(showsAll ? [...args.filter((arg) => arg !== HELP_ALL), "--help"] : args, {
      from: "user",
    });
    return 0;
  } catch (error) {
    // Commander has printed its own errors, and help is one of them.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const verbose = logLevel === "debug" || logLevel === "trace";
    const shown = verbose ? describeWithStack(error) : describeError(error);
    context.stderr.write(`evmintd: ${shown}\n`);
    return exitCodeOf(error);
  }
}

/** Help with every setting; `--help` shows the few that most people need. */
const HELP_ALL = "--help-all";
/** For the built-in genesis of `init` and `testnet`. */
const PERMISSIONS_HELP =
  "restrict senders to the accounts listed in a contract of this owner, at first the owner and the funded accounts";

type Invocation = {
  readonly showsAll: boolean;
  /** The arguments. A command not among them gets no settings. */
  readonly words: ReadonlySet<string>;
  /** A command gets only these of its settings: the two hundred options of `start` would take longer than the rest of the command line. */
  readonly flags: GivenFlags;
};

/** Flags among `args`; undefined if they ask for help, which shows flags that are not given. */
function flagsAmong(args: readonly string[]): GivenFlags {
  if (args.some((arg) => arg === HELP_ALL || /^(?:--help|help|-\w*h\w*)$/.test(arg))) return undefined;
  return new Set(args.map((arg) => (/^-\w/.test(arg) ? ANY_SHORT_FLAG : arg.split("=", 1)[0]!)));
}

function buildProgram(context: CliContext, invocation: Invocation, onLoaded: (loaded: LoadedConfig) => void): Command {
  const load = (flags: Flags, settings: Settings = {}): LoadedConfig => {
    const loaded = configOf(flags, settings, context);
    onLoaded(loaded);
    return loaded;
  };
  const everyFlag = () => flagsOf(buildProgram(context, { ...invocation, flags: undefined }, onLoaded));
  const program = new Command("evmintd")
    .description("An EVM chain node: JSON-RPC over HTTP, WebSocket and IPC.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(withSuggestion(text, everyFlag)),
    })
    .configureHelp({ showGlobalOptions: true })
    .version(`evmintd ${packageVersion()}`, "-V, --version", "print the version")
    .showSuggestionAfterError(false);
  // Commands inherit the settings above only when made by `program.command`.
  const cli = { program, context, load, invocation };
  addNodeCommands(cli);
  addChainCommands(cli);
  addBackupCommands(cli);
  addKeysCommands(cli);
  addEngineCommands(cli);
  addConsoleCommands(cli);
  program
    .command("completion <shell>")
    .description("print a completion script for bash, zsh or fish")
    .action(async (shell: string) => {
      const { printCompletion } = await import("./commands/completion.ts");
      printCompletion(shell, program, context);
    });
  program
    .command("version")
    .description("print the version")
    .action(() => {
      context.stdout.write(`evmintd ${packageVersion()}\n`);
    });
  return program;
}

/** What commands are made of. */
type Cli = {
  readonly program: Command;
  readonly context: CliContext;
  /** @param settings weaker than those in `flags` */
  readonly load: (flags: Flags, settings?: Settings) => LoadedConfig;
  readonly invocation: Invocation;
};

function addNodeCommands({ program, context, load, invocation }: Cli): void {
  const start = withHome(program.command("start"))
    .option("--dev", "dev chain: funded accounts, instant blocks")
    .option("-p, --port <number>", "HTTP port; WebSocket uses the next one")
    .option("-q, --quiet", "print only errors")
    .addOption(new Option("--accept-clock", "accept a large forward jump of the clock").hideHelp());
  const devOptions = withDevAliases(start, invocation);
  withSettings(devOptions, invocation)
    .description("run a node")
    .addHelpText("after", START_EXAMPLES)
    .action(async (flags: Flags) => {
      const { start } = await import("./commands/start.ts");
      const { anvilSettingsOf, configOutOf } = await import("./anvil/flags-of-start.ts");
      const settings = await anvilSettingsOf(flags, OWN_FLAGS);
      const onChain = configOutOf(flags);
      await start(load(flags, settings).config, context, {
        ...(onChain && { onChain }),
        ...(flags["quiet"] === true && { onStarted() {} }),
      });
    });

  program
    .command("anvil")
    .description("run a dev chain with the flags, defaults and output of Foundry's anvil")
    .allowUnknownOption();

  withHome(program.command("init"))
    .description("create a home with settings and a genesis; existing homes are not changed")
    .option("--genesis <file>", "geth genesis file")
    .option("--chain-id <number>", "chain id of the built-in genesis (default 9000)")
    .option("--fund <address...>", "accounts with a million ether each in the built-in genesis")
    .option("--free-gas", "no base fee or minimum tip in the built-in genesis, so that accounts without ether can send")
    .option("--jail", "remove validators that sign two different blocks at one height (built-in genesis)")
    .option("--account-permissions <owner>", PERMISSIONS_HELP)
    .option("--join <file>", 'join the network described by a file of "evmintd engine invite"')
    .action(async (flags: Flags) => {
      const { init } = await import("./commands/init.ts");
      init({ ...(flags as InitOptions), home: homeOf(flags, context) }, context);
    });

  program
    .command("testnet")
    .description("create the homes of a CometBFT network on this machine")
    .requiredOption("--output <folder>", "new or empty folder for the homes")
    .option("--validators <number>", "number of validators (default 4)")
    .option("--full-nodes <number>", "number of other nodes (default 0)")
    .option("--genesis <file>", "geth genesis file")
    .option("--chain-id <number>", "chain id (default 9000)")
    .option("--fund <address...>", "accounts with a million ether each")
    .option("--free-gas", "no base fee or minimum tip, so that accounts without ether can send")
    .option("--jail", "remove validators that sign two different blocks at one height")
    .option("--account-permissions <owner>", PERMISSIONS_HELP)
    .option("--block-time <duration>", "time between blocks (default 1s)")
    .option("--http-port <number>", "HTTP port of the first node (default 8545)")
    .option(
      "--port-offset <number>",
      "offset of all ports, to run a second network on this machine; may be negative (default 0)",
    )
    .action(async (flags: Flags) => {
      const { testnet } = await import("./commands/testnet.ts");
      testnet(flags as TestnetOptions, context);
    });

  const token = withHome(program.command("token"))
    .description("print a bearer token for private methods")
    .option("--expires <duration>", "lifetime of the token (default 24h)")
    .option("--namespaces <list>", "namespaces it allows, such as personal,miner (default all)")
    .option("--methods <list>", "methods it allows, such as eth_*,txpool_status (default all of the namespaces)")
    .option("--subject <name>", "holder of the token; tokens of one subject share a quota and are revoked together")
    .option("--dev", "use the dev chain's home")
    .action(async (flags: Flags) => {
      const { printToken } = await import("./commands/token.ts");
      await printToken({ home: homeOf(flags, context) }, flags as TokenOptions, context);
    });
  token
    .command("revoke")
    .description("revoke a token; takes effect within a second")
    .argument("[id]", "id printed with the token; or --subject NAME to revoke all of its tokens")
    .action(async (id: string | undefined, _: Flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { revokeToken } = await import("./commands/token.ts");
      revokeToken({ home: homeOf(flags, context) }, { ...(flags as TokenOptions), id }, context);
    });
  token
    .command("rotate")
    .description("make a new secret for tokens; a running node uses it within a second")
    .option("--grace <duration>", "time for which tokens of the old secret stay valid (default 24h)")
    .action(async (_: Flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { rotateTokens } = await import("./commands/token.ts");
      rotateTokens({ home: homeOf(flags, context) }, flags, context);
    });

  program
    .command("explorer")
    .description("serve the block explorer for a running node of any client")
    .requiredOption("--rpc <url>", "HTTP URL of the node's JSON-RPC")
    .option("--address <host:port>", "address to listen on (default 127.0.0.1:8550)")
    .action(async (flags: Flags) => {
      const { explorer } = await import("./commands/explorer.ts");
      await explorer(flags as ExplorerOptions, context);
    });

  withSettings(withHome(program.command("doctor")), invocation)
    .option("--dev", "use the dev chain's home")
    .option("--peer <url...>", "JSON-RPC URLs of other nodes to compare with")
    .description("check disk, memory, limits, clock, ports, secrets, versions, the running node and its network")
    .action(async (flags: Flags) => {
      const { doctor } = await import("./doctor/doctor.ts");
      await doctor(load(flags).config, context, { peers: (flags["peer"] as string[] | undefined) ?? [] });
    });

  withSettings(withHome(program.command("ready")), invocation, ["json-rpc", "ipc", "tls", "metrics"])
    .option("--dev", "use the dev chain's home")
    .option("--wait <duration>", "time to wait for the node to become ready, such as 60s (default: ask once)")
    .description("check whether the running node is ready: exit code 0, or 1 with the reason")
    .action(async (flags: Flags) => {
      const { ready } = await import("./commands/ready.ts");
      await ready(load(flags).config, flags as { wait?: string }, context);
    });

  const config = program.command("config").description("inspect settings");
  withSettings(withHome(config.command("show")), invocation)
    .option("--dev", "show the settings of `start --dev`")
    .option("--origin", "show where each value comes from")
    .description("print the settings in force")
    .action(async (flags: Flags) => {
      const { showConfig } = await import("./commands/config-show.ts");
      showConfig(load(flags), { origin: flags["origin"] === true }, context);
    });
}

function addChainCommands({ program, context, load, invocation }: Cli): void {
  const commands = () => import("./commands/chain.ts");
  const chainCommand = (parent: Command, name: string, tables = ["log", "chain", "state", "dev"]) =>
    withSettings(withHome(parent.command(name)), invocation, tables).option("--dev", "use the dev chain's home");

  chainCommand(program, "import <file>")
    .description("execute and append the blocks of an RLP file; resumes an interrupted import")
    .action(async (file: string, flags: Flags) => (await commands()).importFile(load(flags).config, file, context));
  chainCommand(program, "export <file> [first] [last]")
    .description("write blocks as RLP, gzipped if the name ends in .gz")
    .option("--access-lists", "write each block's access list (EIP-7928) before the block; geth cannot read such files")
    .action(async (file: string, first: string, last: string, flags: Flags) =>
      (await commands()).exportFile(
        load(flags).config,
        file,
        { range: [first, last], hasAccessLists: flags["accessLists"] === true },
        context,
      ),
    );
  chainCommand(program, "export-state <file> [block]")
    .description("write the state after a block as JSON lines, as geth dump does")
    .action(async (file: string, block: string | undefined, flags: Flags) =>
      (await commands()).exportStateFile(load(flags).config, file, block, context),
    );
  chainCommand(program, "rollback [blocks]", ["log", "chain", "state", "dev", "consensus", "cometbft"])
    .description("remove the newest blocks (default 1) and set them aside; CometBFT then replays its own blocks")
    .option("--to <height>", "remove all blocks after this height")
    .option("--from-peers", "set CometBFT's blocks aside too; it fetches them again from its peers")
    .action(async (blocks: string | undefined, flags: Flags) => {
      const { to } = flags as { to?: string };
      const fromPeers = flags["fromPeers"] === true;
      await (await commands()).rollback(load(flags).config, blocks, { to, fromPeers }, context);
    });
  chainCommand(program, "prune")
    .description("remove blocks, states and proofs beyond the retention settings")
    .option("--dry-run", "only print what would be removed")
    .action(async (flags: Flags) =>
      (await commands()).prune(load(flags).config, { isDryRun: flags["dryRun"] === true }, context),
    );
  chainCommand(program, "compact")
    .description("return free pages of the index to the file system")
    .action(async (flags: Flags) => (await commands()).compact(load(flags).config, context));
  chainCommand(program, "reindex")
    .description("rebuild the index from the block log")
    .action(async (flags: Flags) => (await commands()).reindex(load(flags).config, context));
  chainCommand(program.command("db").description("inspect the store"), "check")
    .description("read the whole store and verify checksums, hashes and roots")
    .option("--from <block>", "also re-execute this block and all later ones")
    .action(async (flags: Flags) =>
      (await commands()).checkDatabase(load(flags).config, flags["from"] as string | undefined, context),
    );
}

function addBackupCommands({ program, context }: Cli): void {
  const commands = () => import("./commands/backup.ts");
  withHome(program.command("backup"))
    .description("back up blocks, settings and keys of a home, also while its node runs; later runs copy only new data")
    .requiredOption("--to <folder>", "new folder, or the folder of an earlier backup")
    .option("--without-keys", "omit keys, passphrase files and secrets")
    .action(async (flags: Flags) =>
      (await commands()).backup(
        { home: homeOf(flags, context), to: flags["to"] as string, hasKeys: flags["withoutKeys"] !== true },
        context,
      ),
    );
  withHome(program.command("restore"))
    .description("restore a home from a backup")
    .requiredOption("--from <folder>", "folder of the backup")
    .option("--check", "only verify the backup against its manifest")
    .action(async (flags: Flags) =>
      (await commands()).restore(
        { home: homeOf(flags, context), from: flags["from"] as string, isCheck: flags["check"] === true },
        context,
      ),
    );
}

function addConsoleCommands({ program, context, load, invocation }: Cli): void {
  const command = (name: string, tables?: readonly string[]) =>
    withSettings(withHome(program.command(name)), invocation, tables)
      .option("--exec <code>", "run JavaScript, print its value and exit")
      .option("--preload <file>", "run a JavaScript file first")
      .option("--dev", "use the dev chain's home");
  command("attach [target]", ["json-rpc", "ipc"])
    .option("--token-file <file>", "file with a bearer token for private methods (or EVMINT_TOKEN)")
    .addOption(new Option("--token <token>", "deprecated: other users see it").hideHelp())
    .description("open a console on a running node, of the home or at a URL or IPC path")
    .addHelpText("after", ATTACH_EXAMPLES)
    .action(async (target: string | undefined, flags: Flags) => {
      const { attach } = await import("./commands/console.ts");
      await attach(target, load(flags).config, flags as AttachOptions, context);
    });
  command("console")
    .description("run a node with a console; the log goes to standard error")
    .action(async (flags: Flags) => {
      const { startWithConsole } = await import("./commands/console.ts");
      await startWithConsole(load(flags).config, flags as AttachOptions, context);
    });
}

function addEngineCommands({ program, context, load, invocation }: Cli): void {
  const commands = () => import("./commands/engine.ts");
  const command = (parent: Command, name: string) =>
    withSettings(withHome(parent.command(name)), invocation, ["consensus", "cometbft"]);
  const validator = program.command("validator").description("manage the key that signs blocks");
  command(validator, "show")
    .description("print address, public key and node id")
    .action(async (flags: Flags) => (await commands()).showValidator(load(flags).config, context));
  command(validator, "key")
    .description("print the private key")
    .action(async (flags: Flags) => (await commands()).printValidatorKey(load(flags).config, context));
  command(validator, "rotate-key")
    .description("replace the key: make a new one, cast this node's votes, and wait until the old validator is removed")
    .option("--no-wait", "do not wait; print what is missing")
    .action(async (flags: Flags) => {
      const { rotateKey } = await import("./commands/rotate-key.ts");
      await rotateKey(load(flags).config, { wait: flags["wait"] !== false }, context);
    });
  const engine = program.command("engine").description("inspect CometBFT under this node");
  command(engine, "status")
    .description("print height, round, peers and voting power of the running node")
    .action(async (flags: Flags) => (await commands()).engineStatus(load(flags).config, context));
  command(engine, "votes")
    .description("print open votes, who has voted, and the calls that the other operators have to make")
    .action(async (flags: Flags) => (await import("./commands/votes.ts")).printVotes(load(flags).config, context));
  command(engine, "invite")
    .description('print the file for "evmintd init --join"')
    .option("--address <host>", "HOST or HOST:PORT at which other nodes reach this one")
    .action(async (flags: Flags) => {
      const { invite } = await commands();
      invite(load(flags).config, flags as { address?: string }, context);
    });
}

function addKeysCommands({ program, context, load, invocation }: Cli): void {
  const keys = program.command("keys").description("manage the key store");
  const commands = () => import("./commands/keys.ts");
  const keysCommand = (name: string) =>
    withSettings(withHome(keys.command(name)), invocation, ["log", "keystore"]).option(
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
    .description("import a key file, or a file with a private key in hex")
    .action(async (file: string, flags: Flags) => (await commands()).importKey(await session(flags), file));
  keysCommand("export <address>")
    .description("print a key file encrypted with another passphrase")
    .option("--raw", "print the private key")
    .action(async (account: string, flags: Flags) =>
      (await commands()).exportKey(await session(flags), account, { raw: flags["raw"] === true }),
    );
  keysCommand("delete <address>")
    .description("delete a key permanently")
    .action(async (account: string, flags: Flags) => (await commands()).deleteKey(await session(flags), account));
  keysCommand("change-password <address>")
    .description("encrypt a key with another passphrase")
    .action(async (account: string, flags: Flags) =>
      (await commands()).changePassphrase(await session(flags), account),
    );
}

function withHome(command: Command): Command {
  return command.option("--home <folder>", "folder of the chain (default ~/.evmint)");
}

const START_EXAMPLES = `
Examples:
  evmintd start --dev --port 9545 --accounts 20
  evmintd start --home /var/lib/evmint --json-rpc.api eth,net,web3,debug
`;

const ATTACH_EXAMPLES = `
Examples:
  evmintd attach --dev --exec 'eth.getBalance((await eth.accounts())[0])'
  evmintd attach ws://127.0.0.1:8546
  EVMINT_TOKEN=$(evmintd token) evmintd attach http://127.0.0.1:8545
`;

/** Settings that \`--help\` shows, the ones newcomers need. */
const COMMON_SETTINGS = new Set([
  "json-rpc.address",
  "json-rpc.ws-address",
  "json-rpc.api",
  "consensus.block-time",
  "log.level",
  "log.format",
]);

/** A short name of a setting. */
const DEV_ALIASES = [["dev.fork-url", "-f, --fork-url <list>", "fork the chain of these nodes"]] as const;

/** Flags of a dev chain that `--help` shows, in a few words. */
const COMMON_DEV_FLAGS: Readonly<Record<string, string>> = {
  "chain-id": "chain id of a new dev chain (default 31337)",
  accounts: "funded accounts of a dev chain (default 10)",
  timestamp: "time of block 0 of a dev chain (default: now)",
  genesis: "geth genesis file of a new dev chain",
  "fork-block": "block to fork at (default the newest)",
  "fork-verify": "verify remote state: auto, on or off",
  predeploys: "contracts of block 0, or none (default all)",
};

/** Flags that `start` reads itself, where anvil has them too. */
const OWN_FLAGS = [
  ...DEV_ALIASES.map(([, flag]) => new Option(flag).name()),
  ...DEV_FLAG_OPTIONS.map(({ key }) => key),
];

function withDevAliases(command: Command, invocation: Invocation): Command {
  for (const [, flag, description] of DEV_ALIASES) command.option(flag, description);
  if (!invocation.words.has(command.name())) return command;
  return withAnvilFlags(withDevFlags(command, invocation), { isShown: invocation.showsAll, given: invocation.flags });
}

function withDevFlags(command: Command, { showsAll, flags }: Invocation): Command {
  for (const { key, type, description } of DEV_FLAG_OPTIONS) {
    const short = ANVIL_FLAGS.find(({ name }) => name === key)?.short;
    if (!isGiven(flags, key, short)) continue;
    const common = COMMON_DEV_FLAGS[key];
    const form = `${short === undefined ? "" : `-${short}, `}--${key} ${formOf(type)}`;
    const option = new Option(form, showsAll ? description : common).hideHelp(!showsAll && common === undefined);
    command.addOption(showsAll ? option.helpGroup("Dev chain flags:") : option);
  }
  return command;
}

/** A switch needs no value; every other flag takes one. */
function formOf(type: unknown): string {
  return type === boolean ? "[true|false]" : "<value>";
}

/** Adds settings as flags of `command`: all, or only those of `tables`. */
function withSettings(command: Command, invocation: Invocation, tables?: readonly string[]): Command {
  const { showsAll, words, flags } = invocation;
  if (!words.has(command.name())) return command;
  if (command.name() !== "start" && (tables === undefined || tables.includes("dev"))) withDevFlags(command, invocation);
  let hidden = 0;
  for (const { key, type, default: value, description } of OPTIONS) {
    const table = key.includes(".") ? key.split(".")[0]! : "mempool";
    if ((tables !== undefined && !tables.includes(table)) || !isGiven(flags, key)) continue;
    const shown = value === null ? "" : ` (default ${type.print(value)})`;
    const flag = new Option(`--${key} ${formOf(type)}`, `${description}${shown}`);
    const isShown = showsAll || COMMON_SETTINGS.has(key);
    if (!isShown) hidden++;
    command.addOption(flag.helpGroup(showsAll ? `Settings, ${table}:` : "Settings:").hideHelp(!isShown));
  }
  if (hidden > 0) command.option(HELP_ALL, `show ${hidden} more settings`);
  return command;
}

/** Commander's text for people; a flag that does not exist is followed by what became of it, or the nearest that does. */
function withSuggestion(text: string, everyFlag: () => readonly string[]): string {
  const shown = escapeControlsInLines(text.replace(/^error: /, "evmintd: "));
  const flag = /unknown option '(--[^'=]*)/.exec(text)?.[1];
  if (flag === undefined) return shown;
  const fate = fateOfKey(flag, (key) => `--${key}`);
  if (fate !== undefined) return `${shown.trimEnd()}; ${fate}\n`;
  const known = new Set(everyFlag());
  const last = flag.replace(/^--/, "");
  // `--api` is what people type for `--json-rpc.api`.
  const wanted = [...known].find((each) => each.endsWith(`.${last}`)) ?? nearest(flag, [...known]);
  return wanted === undefined ? shown : `${shown.trimEnd()}; did you mean ${wanted}?\n`;
}

function flagsOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), ...command.commands.flatMap(flagsOf)];
}

function homeOf(flags: Flags, { environment }: CliContext): string {
  const asked = (flags["home"] as string | undefined) ?? environment["EVMINT_HOME"];
  const home = resolveHome(asked, flags["dev"] === true);
  assertHomeFolder(home);
  return home;
}

/** Units of numbers that anvil writes without one. */
const UNITS_OF_ANVIL: Readonly<Record<string, string>> = { balance: "ether", "state-interval": "s" };

/** Settings given by their short flags, and flags of a dev chain. @throws UsageError */
function aliasedSettings(flags: Flags): [string, string | true][] {
  const names = [...DEV_ALIASES, ...DEV_FLAG_OPTIONS.map(({ key }) => [key, `--${key} <value>`] as const)];
  const aliases = names.flatMap(([key, flag]): [string, string | true][] => {
    const value = flags[new Option(flag).attributeName()] as string | true | undefined;
    if (value === undefined) return [];
    const unit = UNITS_OF_ANVIL[key];
    return [[key, unit !== undefined && /^\d+$/.test(String(value)) ? `${value}${unit}` : value]];
  });
  if (aliases.length > 0 && flags["dev"] !== true) {
    const name = aliases[0]![0].replace(/^dev\./, "");
    throw new UsageError(`--${name} needs --dev; to create a chain of your own, use "evmintd init"`);
  }
  if (flags["quiet"] === true) aliases.push(["log.level", "error"]);
  const host = (flags["host"] as readonly string[] | undefined)?.at(-1) ?? "127.0.0.1";
  const isHostGiven = flags["host"] !== undefined;
  const port = (flags["port"] as string | undefined) ?? (isHostGiven ? String(DEFAULTS.rpcAddress.port) : undefined);
  if (port === undefined) return aliases;
  if (isIP(host) === 0) throw new UsageError(`--host: ${host} is not an IP address`);
  const number = /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN;
  // The next port is for WebSocket, and 0 asks for two free ones.
  if (!(number <= 65_534)) throw new UsageError(`--port: ${port} is not a port from 0 to 65534`);
  return [
    ["json-rpc.address", formatHostPort({ host, port: number })],
    ["json-rpc.ws-address", formatHostPort({ host, port: number === 0 ? 0 : number + 1 })],
    ...aliases,
  ];
}

function configOf(flags: Flags, weaker: Settings, context: CliContext): LoadedConfig {
  const settings = OPTIONS.flatMap(({ key }): [string, string | true][] => {
    const value = flags[new Option(`--${key} <value>`).attributeName()];
    return value === undefined ? [] : [[key, value as string | true]];
  });
  return loadConfig({
    home: homeOf(flags, context),
    dev: flags["dev"] === true,
    acceptsClock: flags["acceptClock"] === true,
    // The long name of a setting outranks its short one.
    flags: { ...weaker, ...Object.fromEntries([...aliasedSettings(flags), ...settings]) },
    environment: context.environment,
  });
}

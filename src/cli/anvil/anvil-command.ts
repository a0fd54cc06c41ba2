import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLoopback } from "../../node/config/dangers.ts";
import { loadConfig } from "../../node/config/load.ts";
import { packageVersion } from "../../node/config/package.ts";
import { formatHostPort } from "../../node/config/value-types.ts";
import { DEFAULT_ALLOWED_HOSTS } from "../../rpc/transport/server/origin.ts";
import { start } from "../commands/start.ts";
import type { CliContext } from "../context.ts";
import { describeError, describeWithStack, UsageError } from "../errors.ts";
import { renderAnvilBanner } from "./anvil-banner.ts";
import { writeConfigOut } from "./config-out.ts";
import { ANVIL_FLAGS } from "./flags.ts";
import { formOf, type GivenFlags, parseFlags } from "./parse-flags.ts";
import { settingsOf } from "./settings-of-flags.ts";
import type { Settings } from "./values.ts";

/** The version whose flags and defaults these are. */
const ANVIL_VERSION = "1.7.1";

/** anvil has only `personal_sign` of `personal`, and nothing of `wallet`. */
const DENIED = [
  // viem sends the calls of a bundle one by one where a node has no bundles.
  ...["wallet_sendCalls", "wallet_getCallsStatus", "wallet_getCapabilities"],
  ...["File", "Profile", "Trace", "Stats", "ProfileRate"].map((end) => `debug_*${end}`),
  ...["set*", "chaindb*", "stacks", "freeOSMemory", "freezeClient", "verbosity", "vmodule", "backtraceAt"].map(
    (name) => `debug_${name}`,
  ),
  ...["*Account*", "*Wallet*", "importRawKey", "ecRecover", "send*", "signAnd*", "signT*", "unpair"].map(
    (name) => `personal_${name}`,
  ),
];

/** anvil's own defaults, where ours differ. */
const DEFAULTS: Settings = {
  "in-memory": "true",
  dialect: "anvil",
  predeploys: "none",
  "base-fee": "1gwei",
  "gas-limit": "30000000",
  "suggested-tip": "1gwei",
  "tx-gas-limit": "false",
  "ipc.path": "",
  "log.format": "pretty",
  // What anvil has. Pages of every origin may call: other methods of this node read and write files, make keys, or show the process and its paths.
  "json-rpc.api": "eth,net,web3,rpc,anvil,hardhat,evm,debug,trace,txpool,ots,erigon,wallet,personal,tenderly,evmint",
  "json-rpc.deny-methods": DENIED.join(","),
  "json-rpc.cors-origins": "*",
  "json-rpc.vhosts": "*",
};

/**
 * `evmintd anvil`: a dev chain with anvil's flags, defaults, output and exit codes, for scripts that start one.
 * @returns the exit code: 2 for wrong flags, 1 where the node fails, 0 after a signal
 */
export async function runAnvil(args: readonly string[], context: CliContext): Promise<number> {
  const { stdout, stderr } = context;
  try {
    const { flags, settings, shows } = parseFlags(args);
    if (shows !== undefined) {
      stdout.write(shows === "help" ? helpText() : versionText(shows));
      return 0;
    }
    await runNode(
      { ...DEFAULTS, ...admissionOf(flags), ...listenerOf(flags, context), ...(await settingsOf(flags)), ...settings },
      flags,
      context,
    );
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const text = isUsage ? error.message : isVerbose(args) ? describeWithStack(error) : describeError(error);
    stderr.write(isUsage ? `error: ${text}\n\nFor more information, try '--help'.\n` : `Error: ${text}\n`);
    return isUsage ? 2 : 1;
  }
}

/** Values of `--color` as `FORCE_COLOR` has them. */
const COLORS: Readonly<Record<string, string>> = { never: "0", always: "1" };

async function runNode(
  settings: Readonly<Record<string, string | true>>,
  flags: GivenFlags,
  context: CliContext,
): Promise<void> {
  const isQuiet = flags.has("quiet");
  const color = COLORS[flags.get("color")?.[0] ?? "auto"];
  const environment = { ...context.environment, ...(color !== undefined && { FORCE_COLOR: color }) };
  // Nothing is written to it but sockets and what was read of a forked chain.
  const home = join(tmpdir(), `evmint-anvil-${randomUUID()}`);
  const { config } = loadConfig({
    home,
    dev: true,
    flags: { ...(isQuiet && { "log.level": "silent" }), ...settings },
    environment,
  });
  const configOut = flags.get("config-out")?.[0];
  try {
    await start(
      config,
      // As anvil's: starters such as prool take a line of standard error for the failure of the start.
      { ...context, environment, stderr: context.stdout },
      {
        onChain(chain) {
          if (configOut === undefined) return;
          const of = (name: string) => flags.get(name)?.[0];
          const given = { gasPrice: of("gas-price"), gasLimit: of("gas-limit"), timestamp: of("timestamp") };
          writeConfigOut(configOut, chain, given);
        },
        onStarted(node) {
          if (!isQuiet) context.stdout.write(renderAnvilBanner(node, config, `v${packageVersion()}`));
        },
      },
    );
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Host names that may call if origins are restricted: another page could point its own host name at this machine. */
function admissionOf(flags: GivenFlags): Settings {
  const isForSome = flags.has("no-cors") || flags.get("allow-origin")?.every((origin) => origin !== "*") === true;
  return isForSome ? { "json-rpc.vhosts": DEFAULT_ALLOWED_HOSTS.join(",") } : {};
}

/** HTTP and WebSocket on one port. @throws UsageError */
function listenerOf(flags: GivenFlags, { environment }: CliContext): Settings {
  const hosts = flags.get("host") ?? environment["ANVIL_IP_ADDR"]?.split(",") ?? ["127.0.0.1"];
  const [host] = hosts;
  if (hosts.length > 1)
    throw new UsageError("'--host <IP_ADDR>' is not supported more than once: 0.0.0.0 listens on every address");
  if (host === undefined || isIP(host) === 0) {
    throw new UsageError(`invalid value '${host}' for '--host <IP_ADDR>': invalid IP address syntax`);
  }
  const address = formatHostPort({ host, port: Number(flags.get("port")?.[0] ?? 8545) });
  return {
    "json-rpc.address": address,
    "json-rpc.ws-address": address,
    // A node with an explicit address is to be reached there, as with anvil.
    ...(!isLoopback(host) && { "json-rpc.allow-insecure-unlock": "true" }),
  };
}

function isVerbose(args: readonly string[]): boolean {
  return args.some((arg) => /^-v+$/.test(arg));
}

function versionText(form: "version" | "short version"): string {
  const own = packageVersion();
  if (form === "short version") return `anvil ${ANVIL_VERSION} (evmint ${own})\n`;
  return `anvil Version: ${ANVIL_VERSION}\nEvmint Version: ${own}\n`;
}

function helpText(): string {
  const groups = [...new Set(ANVIL_FLAGS.map(({ group }) => group))];
  const rows = (group: string) =>
    ANVIL_FLAGS.filter((flag) => flag.group === group && !("refused" in flag)).map((flag) => {
      const short = flag.short === undefined ? "    " : `-${flag.short}, `;
      const aliases =
        flag.aliases === undefined ? "" : ` [aliases: ${flag.aliases.map((name) => `--${name}`).join(", ")}]`;
      return `  ${short}${formOf(flag)}\n          ${"always" in flag ? `No effect: ${flag.always}` : flag.help}${aliases}\n`;
    });
  const refused = ANVIL_FLAGS.filter((flag) => "refused" in flag).map(({ name }) => `--${name}`);
  return [
    "Run a dev chain with the flags and defaults of anvil\n\nUsage: evmintd anvil [OPTIONS]\n",
    ...groups.map((group) => `${group}:\n${rows(group).join("\n")}`),
    "  -h, --help\n          Print help\n\n  -V, --version\n          Print version\n",
    `All settings of \`evmintd start --help-all\` are flags too. Unsupported flags of anvil: ${refused.join(", ")}\n`,
  ].join("\n");
}

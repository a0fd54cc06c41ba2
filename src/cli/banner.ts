import { checksumAddress } from "../base/primitives/address.ts";
import { escapeControls } from "../base/telemetry/escape-controls.ts";
import type { Listener } from "../node/adapters/rpc-endpoints.ts";
import type { Config } from "../node/config/config.ts";
import { dangersOf } from "../node/config/dangers.ts";
import { isInMemory } from "../node/config/home.ts";
import { duration } from "../node/config/value-types.ts";
import { DEV_BALANCE } from "../node/keystore/dev-accounts.ts";
import { etherText } from "../node/observe/activity/amounts.ts";
import type { ChainStatus } from "../node/roles/types.ts";

export type BannerOptions = {
  /** `v0.1.0` */
  readonly version: string;
  readonly config: Config;
  readonly chain: ChainStatus;
  readonly listeners: readonly Listener[];
  /** Unix seconds */
  readonly now: number;
  readonly color: boolean;
};

/** The banner, printed once the node answers: its addresses, open namespaces, and dangerous settings. */
export function renderBanner(options: BannerOptions): string {
  const { config, chain, listeners, color } = options;
  const loud = (text: string) => (color ? `\x1b[1;31m${text}\x1b[0m` : text);
  const blocks = [
    [`Evmint ${options.version}`],
    // A chain of --genesis may not fund them.
    ...(config.dev && chain.devAccounts.length > 0 ? [devAccountLines(chain, config, loud)] : []),
    [
      row("Chain id", `${chain.chainId}`),
      row("Home", isInMemory(config) ? `${config.home} (chain in memory)` : config.home),
      row("State", stateOf(chain, options.now)),
      row("Engine", engineOf(config)),
    ],
    ["Listening", ...listeningLines(listeners)],
    ...pageLines(config, listeners),
    ...forkLines(chain),
    ...walletLines(config, chain, listeners),
    ...dangerLines(config, loud),
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function devAccountLines(
  { devAccounts, devWallet }: ChainStatus,
  { devChain }: Config,
  loud: (text: string) => string,
): string[] {
  const warning = [
    "WARNING: these keys are public, so use them only on this chain. Anything sent to these",
    "accounts on a public network will be stolen at once.",
  ].map(loud);
  return [
    `Accounts (${etherText(devChain.balance ?? DEV_BALANCE)} ETH each)`,
    ...devAccounts.map(({ address }, index) => `  (${index}) ${checksumAddress(address)}`),
    "",
    "Private keys",
    ...devAccounts.map(({ privateKey }, index) => `  (${index}) ${privateKey}`),
    "",
    row("Phrase", devWallet.phrase),
    row("Path", `${devWallet.path}/INDEX`),
    "",
    ...warning,
  ];
}

function stateOf(chain: ChainStatus, now: number): string {
  if (!chain.resumed) return "new chain";
  const age = Math.max(0, now - chain.headTimestamp);
  return `resumed at block ${chain.head}, ${ageOf(age)} old`;
}

function ageOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

function engineOf({ consensus }: Config): string {
  const { blockTime } = consensus;
  const when =
    blockTime === "instant"
      ? "a block for each transaction"
      : blockTime === "manual"
        ? "blocks on demand"
        : `a block every ${durationOf(blockTime.intervalMs)}${blockTime.emptyMs === undefined ? "" : `, an empty one every ${durationOf(blockTime.emptyMs)}`}`;
  return `${consensus.engine}, ${when}`;
}

function durationOf(ms: number): string {
  return duration.print(ms).replaceAll('"', "");
}

/** Below the listeners: programs take the first address of the output for that of this node. The other node is shown without what may be a key. */
function forkLines({ fork }: ChainStatus): string[][] {
  if (fork === undefined) return [];
  return [
    [
      "Fork of",
      row("Node", fork.url ?? "none, only the cache"),
      row("Block", `${fork.number}`),
      row("Hash", fork.hash),
    ],
  ];
}

/** Each namespace list once, below the listeners that have it. */
function listeningLines(listeners: readonly Listener[]): string[] {
  if (listeners.length === 0) return ["  nowhere"];
  return listeners.flatMap((listener, i) => {
    const { kind, url } = listener;
    const line = row(kind === "metrics" ? "metrics" : kind.toUpperCase(), url);
    const opens = opensOf(listener);
    const isRepeated = listeners.slice(i + 1).some((other) => opensOf(other) === opens);
    return opens === "" || isRepeated ? [line] : [line, row("", opens)];
  });
}

/** Of a list of namespaces in one line; rpc_modules answers all of them. */
const NAMESPACES_MAX = 8;

function opensOf({ namespaces, needsToken }: Listener): string {
  const more = namespaces.length - NAMESPACES_MAX;
  const list = namespaces.slice(0, NAMESPACES_MAX).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `${list}${needsToken && namespaces.length > 0 ? " (private methods: token)" : ""}`;
}

/** What a browser can open. */
function pageLines({ explorer }: Config, listeners: readonly Listener[]): string[][] {
  const http = listeners.find(({ kind }) => kind === "http");
  if (http === undefined || !explorer.enable) return [];
  return [["In a browser", row("Explorer", `${http.url}/explorer/`), row("Docs", `${http.url}/docs/`)]];
}

/** What to type into a wallet; nothing when there is no HTTP to type. */
function walletLines(config: Config, chain: ChainStatus, listeners: readonly Listener[]): string[][] {
  const http = listeners.find(({ kind }) => kind === "http");
  if (http === undefined) return [];
  return [
    [
      "Wallet settings",
      row("Network", config.dev ? "Evmint dev" : `Evmint ${chain.chainId}`),
      row("RPC URL", http.url),
      row("Chain id", `${chain.chainId}`),
      row("Currency", "ETH"),
    ],
  ];
}

function dangerLines(config: Config, loud: (text: string) => string): string[][] {
  const dangers = dangersOf(config);
  return dangers.length === 0 ? [] : [dangers.map((danger) => loud(`DANGER: ${escapeControls(danger)}`))];
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(10)}${escapeControls(value)}`;
}

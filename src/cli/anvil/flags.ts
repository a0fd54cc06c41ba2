import {
  anyText,
  forkSettings,
  hardfork,
  integer,
  milliseconds,
  oneOf,
  port,
  type ReadValue,
  type Settings,
  seconds,
  stateFile,
  stateSettings,
} from "./values.ts";

/** What a flag of anvil is to this node. */
type Meaning =
  /** Settings of ours. */
  | { readonly settings: (value: string) => Settings }
  /** The command reads the flag by its name, because it is not a setting, or because several flags decide a setting. */
  | { readonly isRead: true }
  /** The flag requests what the node always does. */
  | { readonly always: string }
  /** An error that says why. */
  | { readonly refused: string };

/** A flag of anvil 1.7.1. */
export type AnvilFlag = Meaning & {
  /** Without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** Name of its value in help; undefined: a switch. */
  readonly value?: string;
  /** The value may be left out, and is this then. */
  readonly implied?: string;
  readonly read?: ReadValue;
  /** May be given several times: all of its values count. */
  readonly isList?: true;
  /** Flags that cannot stand beside it. */
  readonly conflicts?: readonly string[];
  /** Flags without which it means nothing. */
  readonly requires?: readonly string[];
  readonly group:
    | "Options"
    | "Display options"
    | "Server options"
    | "Fork config"
    | "Environment config"
    | "EVM options"
    | "Networks";
  readonly help: string;
};

const u64 = integer(64);

function setting(key: string, value?: string): Pick<AnvilFlag & { settings: (value: string) => Settings }, "settings"> {
  return { settings: (given) => ({ [key]: value ?? given }) };
}

/** anvil's path of the socket. */
const IPC_PATH = "/tmp/anvil.ipc";
/** A larger body exceeds the longest JavaScript string. */
const BODY_BYTES_MAX = "512MiB";
const STATES_STORED =
  "the node stores state differences, on disk if the chain has a home; see state.history and chain.retain-blocks";

/** Every flag of anvil, with what becomes of it. */
export const ANVIL_FLAGS: readonly AnvilFlag[] = [
  {
    name: "accounts",
    short: "a",
    value: "NUM",
    read: integer(31),
    group: "Options",
    help: "Number of dev accounts [default: 10]",
    ...setting("accounts"),
  },
  {
    name: "block-time",
    short: "b",
    aliases: ["blockTime"],
    value: "SECONDS",
    read: seconds,
    conflicts: ["no-mining"],
    group: "Options",
    help: "Block time in seconds for interval mining",
    ...setting("consensus.block-time"),
  },
  {
    name: "balance",
    value: "NUM",
    read: u64,
    group: "Options",
    help: "Balance of each dev account in ether [default: 10000]",
    settings: (value) => ({ balance: `${value}ether` }),
  },
  {
    name: "config-out",
    value: "FILE",
    read: anyText,
    group: "Options",
    help: "Write accounts, keys and fees as JSON to a file",
    isRead: true,
  },
  {
    name: "derivation-path",
    value: "DERIVATION_PATH",
    read: anyText,
    group: "Options",
    help: "Derivation path of the accounts [default: m/44'/60'/0'/0/]",
    ...setting("derivation-path"),
  },
  {
    name: "dump-state",
    value: "PATH",
    read: stateFile,
    conflicts: ["state"],
    group: "Options",
    help: "Write the state to a file, or to state.json in a folder, on exit",
    ...setting("dump-state"),
  },
  {
    name: "hardfork",
    value: "HARDFORK",
    read: hardfork,
    group: "Options",
    help: "Hardfork: paris, shanghai, cancun, prague, osaka, bpo1, bpo2 or latest",
    ...setting("hardfork"),
  },
  {
    name: "init",
    value: "PATH",
    read: anyText,
    group: "Options",
    help: "geth genesis file of the chain",
    ...setting("genesis"),
  },
  {
    name: "ipc",
    aliases: ["ipcpath"],
    value: "PATH",
    implied: IPC_PATH,
    read: anyText,
    group: "Options",
    help: `Serve JSON-RPC on a socket file [default: ${IPC_PATH}]`,
    settings: (path) => ({ "ipc.path": path }),
  },
  {
    name: "threads",
    short: "j",
    aliases: ["jobs"],
    value: "THREADS",
    read: integer(6),
    group: "Options",
    help: "Threads for long calls; 0 starts one per core",
    settings: (value) => (value === "0" ? {} : { "json-rpc.workers": value }),
  },
  {
    name: "load-state",
    value: "PATH",
    read: stateFile,
    conflicts: ["state", "init"],
    group: "Options",
    help: "Load the initial state from a file",
    ...setting("load-state"),
  },
  {
    name: "mnemonic",
    short: "m",
    value: "MNEMONIC",
    read: anyText,
    conflicts: ["mnemonic-random", "mnemonic-seed-unsafe"],
    group: "Options",
    help: "BIP-39 mnemonic of the accounts",
    ...setting("mnemonic"),
  },
  {
    name: "max-persisted-states",
    value: "MAX_PERSISTED_STATES",
    read: u64,
    group: "Options",
    help: "",
    refused: STATES_STORED,
  },
  {
    name: "max-transactions",
    value: "MAX_TRANSACTIONS",
    read: u64,
    group: "Options",
    help: "",
    refused: "only the gas limit bounds the transactions of a block; see --gas-limit",
  },
  {
    name: "mixed-mining",
    requires: ["block-time"],
    group: "Options",
    help: "Make a block for each transaction, in addition to those of --block-time",
    ...setting("mixed-mining", "true"),
  },
  {
    name: "mnemonic-random",
    value: "WORDS",
    implied: "12",
    read: integer(8),
    conflicts: ["mnemonic", "mnemonic-seed-unsafe"],
    group: "Options",
    help: "Generate a mnemonic with this number of words [default: 12]",
    isRead: true,
  },
  {
    name: "mnemonic-seed-unsafe",
    value: "MNEMONIC_SEED",
    read: u64,
    conflicts: ["mnemonic", "mnemonic-random"],
    group: "Options",
    help: "Derive anvil's mnemonic from a seed; anyone can compute it",
    isRead: true,
  },
  {
    name: "no-mining",
    aliases: ["no-mine"],
    conflicts: ["block-time", "mixed-mining"],
    group: "Options",
    help: "Make blocks only on demand",
    ...setting("consensus.block-time", "manual"),
  },
  {
    name: "number",
    value: "NUM",
    read: u64,
    group: "Options",
    help: "",
    refused: "a chain always starts at block 0, as in geth",
  },
  {
    name: "order",
    value: "ORDER",
    read: oneOf("fees", "fifo"),
    group: "Options",
    help: "Order of transactions in a block: fees or fifo [default: fees]",
    ...setting("order"),
  },
  {
    name: "port",
    short: "p",
    value: "NUM",
    read: port,
    group: "Options",
    help: "Port number to listen on [default: 8545]",
    isRead: true,
  },
  {
    name: "preserve-historical-states",
    group: "Options",
    help: "",
    refused: "a state file holds only the newest state; a chain with a home (start --dev) stores them all",
  },
  {
    name: "prune-history",
    value: "PRUNE_HISTORY",
    implied: "0",
    read: u64,
    group: "Options",
    help: "",
    refused: STATES_STORED,
  },
  {
    name: "state-interval",
    short: "s",
    value: "SECONDS",
    read: seconds,
    group: "Options",
    help: "Interval in seconds at which the running node writes the state",
    ...setting("state-interval"),
  },
  {
    name: "slots-in-an-epoch",
    value: "SLOTS_IN_AN_EPOCH",
    read: u64,
    group: "Options",
    help: "",
    refused: "every block is final at once, so safe and finalized are the newest block",
  },
  {
    name: "state",
    value: "PATH",
    read: anyText,
    conflicts: ["init", "load-state", "dump-state"],
    group: "Options",
    help: "Load the state from this file, if it exists, and dump it there on exit",
    settings: stateSettings,
  },
  {
    name: "timestamp",
    value: "NUM",
    read: u64,
    group: "Options",
    help: "Timestamp of the genesis block",
    ...setting("timestamp"),
  },
  {
    name: "transaction-block-keeper",
    value: "TRANSACTION_BLOCK_KEEPER",
    read: u64,
    group: "Options",
    help: "",
    refused: "see chain.retain-blocks",
  },

  {
    name: "color",
    value: "COLOR",
    read: oneOf("auto", "always", "never"),
    group: "Display options",
    help: "Colors of the log: auto, always or never",
    isRead: true,
  },
  { name: "json", group: "Display options", help: "Log as JSON", ...setting("log.format", "json") },
  { name: "md", group: "Display options", help: "", refused: "the log is text or JSON" },
  {
    name: "quiet",
    short: "q",
    aliases: ["silent"],
    group: "Display options",
    help: "Print neither banner nor log",
    isRead: true,
  },
  {
    name: "verbosity",
    short: "v",
    isList: true,
    group: "Display options",
    help: "Log at level debug",
    ...setting("log.level", "debug"),
  },

  {
    name: "allow-origin",
    value: "ALLOW_ORIGIN",
    read: anyText,
    group: "Server options",
    help: "CORS origins [default: *]",
    ...setting("json-rpc.cors-origins"),
  },
  { name: "cache-path", value: "PATH", read: anyText, group: "Server options", help: "", refused: STATES_STORED },
  {
    name: "host",
    value: "IP_ADDR",
    read: anyText,
    isList: true,
    group: "Server options",
    help: "Address to listen on [env: ANVIL_IP_ADDR] [default: 127.0.0.1]",
    isRead: true,
  },
  { name: "no-cors", group: "Server options", help: "Disable CORS", ...setting("json-rpc.cors-origins", "") },
  {
    name: "no-request-size-limit",
    group: "Server options",
    help: `Allow requests of up to ${BODY_BYTES_MAX}`,
    ...setting("json-rpc.body-limit", BODY_BYTES_MAX),
  },

  {
    name: "compute-units-per-second",
    value: "CUPS",
    read: integer(31, 1n),
    conflicts: ["no-rate-limit"],
    group: "Fork config",
    help: "Compute units per second to request from the remote",
    ...setting("fork-compute-units"),
  },
  {
    name: "fork-url",
    short: "f",
    aliases: ["rpc-url"],
    value: "URL",
    read: anyText,
    isList: true,
    group: "Fork config",
    help: "Fork the chain of this node: URL or URL@BLOCK",
    settings: forkSettings,
  },
  {
    name: "fork-block-number",
    value: "BLOCK",
    read: (text) => (text.startsWith("-") ? `-${u64(text.slice(1))}` : u64(text)),
    requires: ["fork-url"],
    group: "Fork config",
    help: "Block to fork at; a negative number counts back from the newest",
    ...setting("fork-block"),
  },
  {
    name: "fork-chain-id",
    value: "CHAIN",
    read: u64,
    requires: ["fork-block-number"],
    group: "Fork config",
    help: "Chain id of the remote chain, so that its node is not asked",
    ...setting("fork-chain-id"),
  },
  {
    name: "fork-header",
    value: "HEADERS",
    read: anyText,
    isList: true,
    requires: ["fork-url"],
    group: "Fork config",
    help: '"NAME: VALUE" sent with every request to the other chain',
    ...setting("fork-headers"),
  },
  {
    name: "fork-retry-backoff",
    value: "BACKOFF",
    read: milliseconds,
    requires: ["fork-url"],
    group: "Fork config",
    help: "Pause before the first retry in milliseconds",
    ...setting("fork-retry-pause"),
  },
  {
    name: "fork-transaction-hash",
    value: "TRANSACTION",
    read: anyText,
    requires: ["fork-url"],
    conflicts: ["fork-block-number"],
    group: "Fork config",
    help: "Fork after this transaction",
    ...setting("fork-transaction"),
  },
  {
    name: "no-rate-limit",
    aliases: ["no-rpc-rate-limit"],
    conflicts: ["compute-units-per-second"],
    group: "Fork config",
    help: "",
    always: "the node does not limit its requests",
  },
  {
    name: "no-storage-caching",
    group: "Fork config",
    help: "",
    refused: "cached remote state is verified or final; to clear it, delete cache/fork in the home",
  },
  {
    name: "retries",
    value: "RETRIES",
    read: integer(8),
    requires: ["fork-url"],
    group: "Fork config",
    help: "Retries of a remote request [default: 5]",
    ...setting("fork-retries"),
  },
  {
    name: "timeout",
    value: "TIMEOUT",
    read: milliseconds,
    requires: ["fork-url"],
    group: "Fork config",
    help: "Time limit of a remote request in milliseconds",
    ...setting("fork-timeout"),
  },

  {
    name: "block-base-fee-per-gas",
    aliases: ["base-fee"],
    value: "FEE",
    read: u64,
    group: "Environment config",
    help: "Base fee of block 0 and block 1 in wei",
    ...setting("base-fee"),
  },
  {
    name: "chain-id",
    value: "CHAIN_ID",
    read: u64,
    group: "Environment config",
    help: "The chain ID [default: 31337]",
    ...setting("chain-id"),
  },
  {
    name: "code-size-limit",
    value: "CODE_SIZE",
    read: integer(31),
    conflicts: ["disable-code-size-limit"],
    group: "Environment config",
    help: "EIP-170: maximum contract size in bytes [default: 24576]",
    ...setting("code-size-limit"),
  },
  {
    name: "disable-block-gas-limit",
    conflicts: ["gas-limit"],
    group: "Environment config",
    help: "Remove the block gas limit",
    ...setting("gas-limit", "unlimited"),
  },
  {
    name: "disable-code-size-limit",
    conflicts: ["code-size-limit"],
    group: "Environment config",
    help: "Remove the contract size limit",
    ...setting("code-size-limit", "none"),
  },
  {
    name: "disable-min-priority-fee",
    aliases: ["no-priority-fee"],
    group: "Environment config",
    help: "Suggest tips below 1 gwei too",
    ...setting("suggested-tip", "0"),
  },
  {
    name: "enable-tx-gas-limit",
    aliases: ["tx-gas-limit"],
    group: "Environment config",
    help: "EIP-7825: limit transactions to 2^24 gas",
    ...setting("tx-gas-limit", "true"),
  },
  {
    name: "gas-limit",
    value: "GAS_LIMIT",
    read: u64,
    group: "Environment config",
    help: "Block gas limit",
    ...setting("gas-limit"),
  },
  {
    name: "gas-price",
    value: "GAS_PRICE",
    read: u64,
    group: "Environment config",
    help: "Gas price for --config-out; as in anvil, it has no effect on blocks with a base fee",
    isRead: true,
  },

  {
    name: "auto-impersonate",
    aliases: ["auto-unlock"],
    group: "EVM options",
    help: "Let every account send without its key",
    ...setting("auto-impersonate", "true"),
  },
  {
    name: "disable-console-log",
    aliases: ["no-console-log"],
    group: "EVM options",
    help: "",
    refused: "console.log output is part of the log; use --quiet",
  },
  {
    name: "disable-default-create2-deployer",
    aliases: ["no-create2"],
    group: "EVM options",
    help: "Do not deploy the CREATE2 deployer",
    ...setting("create2-deployer", "false"),
  },
  {
    name: "disable-pool-balance-checks",
    group: "EVM options",
    help: "",
    refused: "no block can include such a transaction; fund the sender with anvil_setBalance",
  },
  {
    name: "memory-limit",
    value: "MEMORY_LIMIT",
    read: u64,
    group: "EVM options",
    help: "",
    refused: "the limit is fixed",
  },
  {
    name: "print-traces",
    aliases: ["enable-trace-printing"],
    group: "EVM options",
    help: "Log the calls of each transaction",
    ...setting("print-traces", "true"),
  },
  {
    name: "steps-tracing",
    aliases: ["tracing"],
    group: "EVM options",
    help: "",
    always: "debug_traceTransaction and similar methods always trace steps",
  },

  { name: "celo", group: "Networks", help: "", refused: "only Ethereum's rules are supported" },
  {
    name: "network",
    short: "n",
    value: "NETWORK",
    read: oneOf("ethereum"),
    group: "Networks",
    help: "Network rules: ethereum",
    always: "only Ethereum's rules are supported",
  },
];

import {
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

/** A flag of anvil 1.7.1, and what it is to this node. */
type FlagFacts = {
  readonly help?: string;
  readonly aliases?: readonly string[];
  /** The value where it is left out. */
  readonly implied?: string;
  readonly read?: ReadValue;
  /** May be given several times: all of its values count. */
  readonly isList?: true;
  /** Flags that cannot stand beside it. */
  readonly conflicts?: readonly string[];
  /** Flags without which it means nothing. */
  readonly requires?: readonly string[];
  /** The setting that gets the value, or settings with their values. Absent: the command reads the flag by its name. */
  readonly sets?: string | Settings | ((value: string) => Settings);
  /** The flag requests what the node always does. */
  readonly always?: string;
  /** An error that says why. */
  readonly refused?: string;
};

export type AnvilFlag = FlagFacts & {
  readonly group: string;
  /** Without dashes. */
  readonly name: string;
  readonly short: string | undefined;
  /** Name of its value in help; undefined: a switch. */
  readonly value: string | undefined;
};

const u64 = integer(64);
/** anvil's path of the socket. */
const IPC_PATH = "/tmp/anvil.ipc";
/** A larger body exceeds the longest JavaScript string. */
const BODY_BYTES_MAX = "512MiB";
const STATES_STORED =
  "the node stores state differences, on disk if the chain has a home; see state.history and chain.retain-blocks";

/** By the groups of anvil's help, and by their forms there. */
const FLAGS: Readonly<Record<string, Readonly<Record<string, FlagFacts>>>> = {
  Options: {
    "-a, --accounts <NUM>": { help: "Number of dev accounts [default: 10]", read: integer(31), sets: "accounts" },
    "-b, --block-time <SECONDS>": {
      help: "Block time in seconds for interval mining",
      read: seconds,
      aliases: ["blockTime"],
      conflicts: ["no-mining"],
      sets: "consensus.block-time",
    },
    "--balance <NUM>": {
      help: "Balance of each dev account in ether [default: 10000]",
      read: u64,
      sets: (value) => ({ balance: `${value}ether` }),
    },
    "--config-out <FILE>": { help: "Write accounts, keys and fees as JSON to a file" },
    "--derivation-path <DERIVATION_PATH>": {
      help: "Derivation path of the accounts [default: m/44'/60'/0'/0/]",
      sets: "derivation-path",
    },
    "--dump-state <PATH>": {
      help: "Write the state to a file, or to state.json in a folder, on exit",
      read: stateFile,
      conflicts: ["state"],
      sets: "dump-state",
    },
    "--hardfork <HARDFORK>": {
      help: "Hardfork: paris, shanghai, cancun, prague, osaka, bpo1, bpo2 or latest",
      read: hardfork,
      sets: "hardfork",
    },
    "--init <PATH>": { help: "geth genesis file of the chain", sets: "genesis" },
    "--ipc [PATH]": {
      help: `Serve JSON-RPC on a socket file [default: ${IPC_PATH}]`,
      aliases: ["ipcpath"],
      implied: IPC_PATH,
      sets: (path) => ({ "ipc.path": path }),
    },
    "-j, --threads <THREADS>": {
      help: "Threads for long calls; 0 starts one per core",
      read: integer(6),
      aliases: ["jobs"],
      sets: (value) => (value === "0" ? {} : { "json-rpc.workers": value }),
    },
    "--load-state <PATH>": {
      help: "Load the initial state from a file",
      read: stateFile,
      conflicts: ["state", "init"],
      sets: "load-state",
    },
    "-m, --mnemonic <MNEMONIC>": {
      help: "BIP-39 mnemonic of the accounts",
      conflicts: ["mnemonic-random", "mnemonic-seed-unsafe"],
      sets: "mnemonic",
    },
    "--max-persisted-states <MAX_PERSISTED_STATES>": { read: u64, refused: STATES_STORED },
    "--max-transactions <MAX_TRANSACTIONS>": {
      read: u64,
      refused: "only the gas limit bounds the transactions of a block; see --gas-limit",
    },
    "--mixed-mining": {
      help: "Make a block for each transaction, in addition to those of --block-time",
      requires: ["block-time"],
      sets: { "mixed-mining": "true" },
    },
    "--mnemonic-random [WORDS]": {
      help: "Generate a mnemonic with this number of words [default: 12]",
      read: integer(8),
      implied: "12",
      conflicts: ["mnemonic", "mnemonic-seed-unsafe"],
    },
    "--mnemonic-seed-unsafe <MNEMONIC_SEED>": {
      help: "Derive anvil's mnemonic from a seed; anyone can compute it",
      read: u64,
      conflicts: ["mnemonic", "mnemonic-random"],
    },
    "--no-mining": {
      help: "Make blocks only on demand",
      aliases: ["no-mine"],
      conflicts: ["block-time", "mixed-mining"],
      sets: { "consensus.block-time": "manual" },
    },
    "--number <NUM>": { read: u64, refused: "a chain always starts at block 0, as in geth" },
    "--order <ORDER>": {
      help: "Order of transactions in a block: fees or fifo [default: fees]",
      read: oneOf("fees", "fifo"),
      sets: "order",
    },
    "-p, --port <NUM>": { help: "Port number to listen on [default: 8545]", read: port },
    "--preserve-historical-states": {
      refused: "a state file holds only the newest state; a chain with a home (start --dev) stores them all",
    },
    "--prune-history [PRUNE_HISTORY]": { read: u64, implied: "0", refused: STATES_STORED },
    "-s, --state-interval <SECONDS>": {
      help: "Interval in seconds at which the running node writes the state",
      read: seconds,
      sets: "state-interval",
    },
    "--slots-in-an-epoch <SLOTS_IN_AN_EPOCH>": {
      read: u64,
      refused: "every block is final at once, so safe and finalized are the newest block",
    },
    "--state <PATH>": {
      help: "Load the state from this file, if it exists, and dump it there on exit",
      conflicts: ["init", "load-state", "dump-state"],
      sets: stateSettings,
    },
    "--timestamp <NUM>": { help: "Timestamp of the genesis block", read: u64, sets: "timestamp" },
    "--transaction-block-keeper <TRANSACTION_BLOCK_KEEPER>": { read: u64, refused: "see chain.retain-blocks" },
  },
  "Display options": {
    "--color <COLOR>": { help: "Colors of the log: auto, always or never", read: oneOf("auto", "always", "never") },
    "--json": { help: "Log as JSON", sets: { "log.format": "json" } },
    "--md": { refused: "the log is text or JSON" },
    "-q, --quiet": { help: "Print neither banner nor log", aliases: ["silent"] },
    "-v, --verbosity": { help: "Log at level debug", isList: true, sets: { "log.level": "debug" } },
  },
  "Server options": {
    "--allow-origin <ALLOW_ORIGIN>": { help: "CORS origins [default: *]", sets: "json-rpc.cors-origins" },
    "--cache-path <PATH>": { refused: STATES_STORED },
    "--host <IP_ADDR>": { help: "Address to listen on [env: ANVIL_IP_ADDR] [default: 127.0.0.1]", isList: true },
    "--no-cors": { help: "Disable CORS", sets: { "json-rpc.cors-origins": "" } },
    "--no-request-size-limit": {
      help: `Allow requests of up to ${BODY_BYTES_MAX}`,
      sets: { "json-rpc.body-limit": BODY_BYTES_MAX },
    },
  },
  "Fork config": {
    "--compute-units-per-second <CUPS>": {
      help: "Compute units per second to request from the remote",
      read: integer(31, 1n),
      conflicts: ["no-rate-limit"],
      sets: "fork-compute-units",
    },
    "-f, --fork-url <URL>": {
      help: "Fork the chain of this node: URL or URL@BLOCK",
      aliases: ["rpc-url"],
      isList: true,
      sets: forkSettings,
    },
    "--fork-block-number <BLOCK>": {
      help: "Block to fork at; a negative number counts back from the newest",
      read: (text) => (text.startsWith("-") ? `-${u64(text.slice(1))}` : u64(text)),
      requires: ["fork-url"],
      sets: "fork-block",
    },
    "--fork-chain-id <CHAIN>": {
      help: "Chain id of the remote chain, so that its node is not asked",
      read: u64,
      requires: ["fork-block-number"],
      sets: "fork-chain-id",
    },
    "--fork-header <HEADERS>": {
      help: '"NAME: VALUE" sent with every request to the other chain',
      isList: true,
      requires: ["fork-url"],
      sets: "fork-headers",
    },
    "--fork-retry-backoff <BACKOFF>": {
      help: "Pause before the first retry in milliseconds",
      read: milliseconds,
      requires: ["fork-url"],
      sets: "fork-retry-pause",
    },
    "--fork-transaction-hash <TRANSACTION>": {
      help: "Fork after this transaction",
      conflicts: ["fork-block-number"],
      requires: ["fork-url"],
      sets: "fork-transaction",
    },
    "--no-rate-limit": {
      aliases: ["no-rpc-rate-limit"],
      conflicts: ["compute-units-per-second"],
      always: "the node does not limit its requests",
    },
    "--no-storage-caching": {
      refused: "cached remote state is verified or final; to clear it, delete cache/fork in the home",
    },
    "--retries <RETRIES>": {
      help: "Retries of a remote request [default: 5]",
      read: integer(8),
      requires: ["fork-url"],
      sets: "fork-retries",
    },
    "--timeout <TIMEOUT>": {
      help: "Time limit of a remote request in milliseconds",
      read: milliseconds,
      requires: ["fork-url"],
      sets: "fork-timeout",
    },
  },
  "Environment config": {
    "--block-base-fee-per-gas <FEE>": {
      help: "Base fee of block 0 and block 1 in wei",
      read: u64,
      aliases: ["base-fee"],
      sets: "base-fee",
    },
    "--chain-id <CHAIN_ID>": { help: "The chain ID [default: 31337]", read: u64, sets: "chain-id" },
    "--code-size-limit <CODE_SIZE>": {
      help: "EIP-170: maximum contract size in bytes [default: 24576]",
      read: integer(31),
      conflicts: ["disable-code-size-limit"],
      sets: "code-size-limit",
    },
    "--disable-block-gas-limit": {
      help: "Remove the block gas limit",
      conflicts: ["gas-limit"],
      sets: { "gas-limit": "unlimited" },
    },
    "--disable-code-size-limit": {
      help: "Remove the contract size limit",
      conflicts: ["code-size-limit"],
      sets: { "code-size-limit": "none" },
    },
    "--disable-min-priority-fee": {
      help: "Suggest tips below 1 gwei too",
      aliases: ["no-priority-fee"],
      sets: { "suggested-tip": "0" },
    },
    "--enable-tx-gas-limit": {
      help: "EIP-7825: limit transactions to 2^24 gas",
      aliases: ["tx-gas-limit"],
      sets: { "tx-gas-limit": "true" },
    },
    "--gas-limit <GAS_LIMIT>": { help: "Block gas limit", read: u64, sets: "gas-limit" },
    "--gas-price <GAS_PRICE>": {
      help: "Gas price for --config-out; as in anvil, it has no effect on blocks with a base fee",
      read: u64,
    },
  },
  "EVM options": {
    "--auto-impersonate": {
      help: "Let every account send without its key",
      aliases: ["auto-unlock"],
      sets: { "auto-impersonate": "true" },
    },
    "--disable-console-log": {
      aliases: ["no-console-log"],
      refused: "console.log output is part of the log; use --quiet",
    },
    "--disable-default-create2-deployer": {
      help: "Do not deploy the CREATE2 deployer",
      aliases: ["no-create2"],
      sets: { "create2-deployer": "false" },
    },
    "--disable-pool-balance-checks": {
      refused: "no block can include such a transaction; fund the sender with anvil_setBalance",
    },
    "--memory-limit <MEMORY_LIMIT>": { read: u64, refused: "the limit is fixed" },
    "--print-traces": {
      help: "Log the calls of each transaction",
      aliases: ["enable-trace-printing"],
      sets: { "print-traces": "true" },
    },
    "--steps-tracing": {
      aliases: ["tracing"],
      always: "debug_traceTransaction and similar methods always trace steps",
    },
  },
  Networks: {
    "--celo": { refused: "only Ethereum's rules are supported" },
    "-n, --network <NETWORK>": {
      help: "Network rules: ethereum",
      read: oneOf("ethereum"),
      always: "only Ethereum's rules are supported",
    },
  },
};

/** Every flag of anvil. */
export const ANVIL_FLAGS: readonly AnvilFlag[] = Object.entries(FLAGS).flatMap(([group, flags]) =>
  Object.entries(flags).map(([form, facts]) => {
    const [, short, name, value] = /^(?:-(\w), )?--([\w-]+)(?: [<[](\w+)[>\]])?$/.exec(form)!;
    return { ...facts, group, name: name!, short, value };
  }),
);

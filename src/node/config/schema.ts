import { ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { LOG_LEVELS } from "../../base/telemetry/logger.ts";
import { CACHE_BYTES } from "../../chain/store/cache-sizes.ts";
import { MEMPOOL_DEFAULTS } from "../../consensus/mempool/pool.ts";
import { RPC_DEFAULTS } from "../../rpc/transport/limits.ts";
import { DEFAULT_ALLOWED_ORIGINS } from "../../rpc/transport/server/origin.ts";
import { DEFAULTS } from "./defaults.ts";
import {
  address,
  amount,
  blockTime,
  boolean,
  byteSize,
  bytes,
  duration,
  gas,
  hostPort,
  integer,
  list,
  nodeAddresses,
  nodeIds,
  type Option,
  oneOf,
  option,
  origins,
  retainedBlocks,
  text,
  trustedBlock,
  unset,
} from "./value-types.ts";

/** Every setting there is, by its place in `Config`. The order is that of `app.toml`. */
export const SCHEMA = {
  chain: {
    name: option("chain.name", text, DEFAULTS.chainName, {
      description: "Chain name in the prefix of signed messages; wallets and contracts expect Ethereum.",
    }),
    retainBlocks: option("chain.retain-blocks", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description:
        "Newest blocks that are stored with their receipts and logs, archive: all of them. Older ones are removed in the background; the states of removed blocks go with them.",
    }),
  },
  mempool: {
    minimumGasPriceWei: option("minimum-gas-prices", amount, 0n, {
      description:
        "Lowest gas price the node accepts and proposes. miner_setGasPrice writes it here; a flag outranks it.",
    }),
    accountSlots: option("mempool.account-slots", integer(1), MEMPOOL_DEFAULTS.accountSlots, {
      dev: DEFAULTS.poolAccountSlotsDev,
      description: "Most executable transactions of one account in the pool, and as many after a nonce gap.",
    }),
    allowedAccounts: option("mempool.allowed-accounts", text, "", {
      description:
        "File with the accounts that may send transactions and create contracts, seen from the home; empty: all may.",
    }),
    bytesMax: option("mempool.size-limit", byteSize, MEMPOOL_DEFAULTS.bytesMax, {
      description:
        "Memory of all transactions in the pool except those with blobs; those after a nonce gap may take a quarter of it.",
    }),
  },
  jsonRpc: {
    enable: option("json-rpc.enable", boolean, false, {
      dev: true,
      init: true,
      description: "Serve JSON-RPC over HTTP and WebSocket.",
    }),
    address: option("json-rpc.address", hostPort, DEFAULTS.rpcAddress, {
      description: "Where HTTP listens.",
    }),
    wsAddress: option("json-rpc.ws-address", hostPort, DEFAULTS.wsAddress, {
      dev: DEFAULTS.wsAddressLoopback,
      init: DEFAULTS.wsAddressLoopback,
      description: "Where WebSocket listens; HTTP's own address: there alone.",
    }),
    api: option("json-rpc.api", list, DEFAULTS.rpcApi, {
      dev: ["all"],
      description: "Namespaces open over HTTP and WebSocket; all opens every one. Private methods also need a token.",
    }),
    corsOrigins: option("json-rpc.cors-origins", origins, DEFAULT_ALLOWED_ORIGINS, {
      dev: DEFAULTS.corsOriginsDev,
      description:
        "Origins whose pages may call, over HTTP and WebSocket: SCHEME://HOST, :* for any port, * for every page. A + in front adds to the default ones.",
    }),
    vhosts: option("json-rpc.vhosts", list, DEFAULTS.rpcVhosts, {
      description: "Host names requests may be sent to besides IP addresses; * accepts every name.",
    }),
    compileSolidity: option("json-rpc.compile-solidity", boolean, false, {
      dev: true,
      description:
        "Compile sources that callers send, where the npm package solc is installed: half a minute of a process each, which has 640 MB at most.",
    }),
    nullPowFields: option("json-rpc.null-pow-fields", boolean, false, {
      description:
        "Serve nonce, sha3Uncles, difficulty and totalDifficulty as null; several libraries reject such blocks.",
    }),
    allowInsecureUnlock: option("json-rpc.allow-insecure-unlock", boolean, false, {
      description: "Let accounts be unlocked although a listener is not on loopback.",
    }),
    workers: option("json-rpc.workers", integer(0, 64), DEFAULTS.rpcWorkers, {
      description:
        "Threads for calls and traces that take long, divided among the processes that serve connections, each of which has at least one; 0 runs such calls on the thread that was asked.",
    }),
    processes: option("json-rpc.processes", integer(0, 64), DEFAULTS.rpcProcesses, {
      dev: DEFAULTS.rpcProcessesDev,
      description:
        "Processes that serve HTTP and WebSocket connections beside the chain's; 0 serves them in the chain's.",
    }),
    callGasMax: option("json-rpc.gas-cap", gas, DEFAULTS.rpcCallGasMax, {
      description: "Gas one eth_call or eth_estimateGas may use; 0 is no cap.",
    }),
    callTimeoutMs: option("json-rpc.evm-timeout", duration, DEFAULTS.rpcCallTimeoutMs, {
      description: "Time one eth_call may take; 0 is no limit.",
    }),
    allowUnprotected: option("json-rpc.allow-unprotected-txs", boolean, false, {
      // Deployers of well-known contracts are signed without one, to be good on every chain.
      dev: true,
      description: "Take legacy transactions without a chain id (EIP-155) from callers.",
    }),
    txFeeWeiMax: option("json-rpc.fee-cap", amount, DEFAULTS.rpcTxFeeWeiMax, {
      description: "Highest fee of one transaction sent through this node; 0 is no cap.",
    }),
    logsResultsMax: option("json-rpc.logs-limit", integer(1), DEFAULTS.rpcLogsResultsMax, {
      description: "Logs in one answer.",
    }),
  },
  /** As the JSON-RPC server takes them. */
  rpcLimits: {
    bodyBytesMax: option("json-rpc.body-limit", byteSize, RPC_DEFAULTS.bodyBytesMax, {
      description: "Size of an HTTP request body, a WebSocket or an IPC message.",
    }),
    batchItemsMax: option("json-rpc.batch-limit", integer(1), RPC_DEFAULTS.batchItemsMax, {
      description: "Calls in one batch.",
    }),
    httpConnectionsMax: option("json-rpc.connections-limit", integer(1), RPC_DEFAULTS.httpConnectionsMax, {
      description: "Open HTTP connections; there may be 10,000 WebSockets besides.",
    }),
  } satisfies Record<keyof typeof RPC_DEFAULTS, Option<number>>,
  /** Who may call what. */
  access: {
    allowMethods: option("json-rpc.allow-methods", list, ["*"], {
      description: "Methods served over HTTP and WebSocket, of the namespaces in api: names, * for any text.",
    }),
    denyMethods: option("json-rpc.deny-methods", list, [], {
      description: "Methods not served there, even if allow-methods names them.",
    }),
    requireToken: option("json-rpc.require-token", boolean, false, {
      description:
        "Every call over HTTP and WebSocket needs a token that opens it, not only private methods; `rpc_modules` any token.",
    }),
  },
  ipc: {
    enable: option("ipc.enable", boolean, true, {
      description: "Serve JSON-RPC on a socket file only this user can open; private methods need no token there.",
    }),
    path: option("ipc.path", text, "evmint.ipc", {
      description: "The socket file, seen from the home.",
    }),
  },
  evm: {
    speculationThreads: option("evm.speculation-threads", integer(0, 16), DEFAULTS.evmSpeculationThreads, {
      dev: 0,
      description:
        "Threads that execute transactions of the next block ahead where blocks are made at intervals; their results are compared with the state and applied. 0 executes in the chain's thread alone.",
    }),
    compile: option("evm.compile", oneOf(["auto", "off"]), DEFAULTS.evmCompile, {
      description:
        "auto: contracts whose code uses much gas are compiled in a thread of their own and then run faster.",
    }),
  },
  consensus: {
    engine: option("consensus.engine", oneOf(["solo", "cometbft"]), "solo", {
      description: "Decides blocks: solo is one validator in this process, cometbft a network of validators.",
    }),
    blockTime: option(
      "consensus.block-time",
      blockTime,
      { intervalMs: DEFAULTS.blockTimeMs },
      {
        dev: "instant",
        description:
          "instant: a block as soon as a transaction is pending; manual: on demand; or the time between blocks. Below 1s several blocks share a timestamp, and other clients do not import such a chain.",
      },
    ),
    gasLimit: option("consensus.gas-limit", gas, DEFAULTS.blockGasLimit, {
      description: "Block gas limit the node moves towards, by at most 1/1024 a block.",
    }),
    feeRecipient: option("consensus.fee-recipient", address, ZERO_ADDRESS, {
      description: "Who receives the tips of blocks this node proposes.",
    }),
    extraData: option("consensus.extra-data", bytes(32), new Uint8Array(0), {
      description: "Bytes for the extraData field of blocks this node proposes.",
    }),
  },
  /** Settings of `consensus.engine = cometbft`. The node writes CometBFT's own configuration from them at each start. */
  cometbft: {
    binary: option("cometbft.binary", text, "cometbft", {
      description: "The cometbft program: a path, or a name that is looked up on PATH.",
    }),
    moniker: option("cometbft.moniker", text, "evmint", {
      description: "Name of this node among its peers.",
    }),
    p2pAddress: option(
      "cometbft.p2p-address",
      hostPort,
      { host: "0.0.0.0", port: 26656 },
      { description: "Where this node listens for peers." },
    ),
    externalAddress: option("cometbft.external-address", text, "", {
      description: "host:port under which peers reach this node; empty: the address they see.",
    }),
    persistentPeers: option("cometbft.persistent-peers", nodeAddresses, [], {
      description: "Peers to stay connected to.",
    }),
    seeds: option("cometbft.seeds", nodeAddresses, [], {
      description:
        "Nodes that are asked for addresses of others where this one has too few peers; they disconnect then.",
    }),
    pex: option("cometbft.pex", unset(boolean), null, {
      description:
        "Ask peers for addresses of others, and pass on those it knows; empty: yes, unless cometbft.local-net. A validator behind sentries has false.",
    }),
    privatePeers: option("cometbft.private-peers", nodeIds, [], {
      description: "Ids of peers whose addresses are not passed on: a sentry names its validators.",
    }),
    trustedPeers: option("cometbft.trusted-peers", nodeIds, [], {
      description: "Ids of peers that connect also where there are as many as allowed.",
    }),
    rejectedPeers: option("cometbft.rejected-peers", nodeIds, [], {
      description: "Ids of nodes that are not connected to: those removed with admin_removePeer.",
    }),
    allowedNodesContract: option("cometbft.allowed-nodes-contract", unset(address), null, {
      description:
        "Contract that says which nodes may connect: connectionAllowed(bytes20 id) view returns (bool); empty: there is none.",
    }),
    inboundPeersMax: option("cometbft.max-inbound-peers", integer(0, 1_000), 40, {
      description: "Peers that may connect to this node, besides those of cometbft.trusted-peers.",
    }),
    localNet: option("cometbft.local-net", boolean, false, {
      description: "All nodes are on one machine or private net: repeated and private addresses are accepted.",
    }),
    metricsAddress: option("cometbft.metrics-address", unset(hostPort), null, {
      description: "Where CometBFT serves its own metrics for Prometheus, without TLS; empty: nowhere.",
    }),
    stateSyncServers: option("cometbft.state-sync-servers", list, [], {
      description:
        "CometBFT's RPC of two nodes or more, each host:port or unix:///path: a home without data/ restores a snapshot in place of fetching all blocks.",
    }),
    trustBlock: option("cometbft.trust-block", unset(trustedBlock), null, {
      description:
        "A block you trust, for state sync, at most a week old: HEIGHT:HASH, with CometBFT's hash, as `evmintd engine status` of a node prints it.",
    }),
    doubleSignCheckHeight: option("cometbft.double-sign-check-height", integer(0, 1_000), 3, {
      description:
        "After a start, a validator's key signs once so many blocks of the network, made since, have no signature of it; where the network makes none, after some seconds. 0: it signs at once, also from an old copy of a home.",
    }),
    privValidatorLaddr: option("cometbft.priv-validator-laddr", text, "", {
      description:
        "Where CometBFT waits for a remote signer that has the validator's key: unix:///path or tcp://host:port; empty: the key is in the home.",
    }),
    validatorPublicKey: option("cometbft.validator-public-key", bytes(33), new Uint8Array(0), {
      description: "Public key of the remote signer: 33 bytes, compressed.",
    }),
    rollbackBlocksMax: option("cometbft.rollback-blocks", integer(0), 100, {
      description:
        "Blocks that the node removes without being asked where CometBFT's store ends before the chain, as after a power loss; they are set aside in a file. With more of them the chain stays as it is, and CometBFT gets the blocks again from its peers.",
    }),
  },
  snapshot: {
    interval: option("snapshot.interval", integer(0), DEFAULTS.snapshotInterval, {
      description:
        "Blocks between two snapshots of the state for new nodes (state sync); 0: none is taken. The newest two are stored: a new node has to find and fetch one in the time of two intervals.",
    }),
    restoreBytesMax: option("snapshot.restore-size-limit", byteSize, DEFAULTS.snapshotRestoreBytesMax, {
      description:
        "Bytes, before compression, of a snapshot that a new node restores; a larger one is rejected. Restoring takes twenty to forty times as much memory.",
    }),
  },
  /** What a dev chain has besides the flags that shape it (`dev-flags.ts`). */
  devChain: {
    forkUrls: option("dev.fork-url", list, [], {
      description:
        "Nodes of a chain that a new dev chain continues: its state, blocks and logs are read from them, one after the other when one fails.",
    }),
  },
  index: {
    addresses: option("index.addresses", boolean, false, {
      // It takes some 150 bytes and a part of a millisecond for each transaction.
      dev: true,
      description: "Index transactions by the addresses they have to do with, for ots methods.",
    }),
  },
  explorer: {
    enable: option("explorer.enable", boolean, false, {
      dev: true,
      description:
        "Serve pages at the HTTP port: the block explorer under /explorer, the documentation under /docs, and Etherscan's API under /api, where forge and Hardhat verify sources that json-rpc.compile-solidity compiles.",
    }),
  },
  les: {
    serve: option("les.serve", integer(0, 10_000), 0, {
      description:
        "Percent of one core that strangers may use, each within a capacity of its own; 0 serves everybody alike. Two at least: a free client takes 1.6.",
    }),
    checkpointOracle: option("les.checkpoint-oracle", unset(address), null, {
      description: "Address of the checkpoint oracle contract; empty: there is none.",
    }),
    checkpointSigner: option("les.checkpoint-signer", unset(address), null, {
      description:
        "Unlocked account that votes for new checkpoints in the oracle contract, one of its admins; empty: none does.",
    }),
  },
  shh: {
    address: option("shh.address", unset(hostPort), null, {
      description:
        "Where this node listens for whisper peers (libp2p over TCP), and the port at which it looks for whisper of the chain's peers; empty: it does neither.",
    }),
    peers: option("shh.peers", list, [], {
      description: "Whisper peers to stay connected to: /ip4/HOST/tcp/PORT/p2p/ID.",
    }),
  },
  cache: {
    bytes: option("cache.size", byteSize, CACHE_BYTES, {
      description:
        "Memory for what was read of the chain: half for nodes of the state trie, 20 % for accounts and slots, 20 % for blocks, 10 % for code. Each RPC thread or process has half as much of its own, without trie nodes.",
    }),
  },
  state: {
    history: option("state.history", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description: "Newest states that can be read, archive: those of all stored blocks.",
    }),
    proofs: option("state.proofs", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description: "Newest states that can be proven, archive: all that can be read.",
    }),
  },
  keystore: {
    strength: option("keystore.strength", oneOf(["standard", "light"]), "standard", {
      description: "Cost of guessing a passphrase: standard takes 256 MiB and a second a try, light 4 MiB and a tenth.",
    }),
    allowReadableByOthers: option("keystore.allow-readable-by-others", boolean, false, {
      description: "Open key files that other users of this machine can read.",
    }),
  },
  tls: {
    cert: option("tls.cert", text, "", {
      description:
        "Certificate chain (PEM) with which HTTP and WebSocket speak TLS, seen from the home; empty: no TLS.",
    }),
    key: option("tls.key", text, "", { description: "Private key (PEM) of that certificate." }),
    clientCa: option("tls.client-ca", text, "", {
      description:
        "Certificates of authorities (PEM), each with its issuers up to the root: HTTP and WebSocket serve those clients alone that have a certificate signed by one of them; empty: all.",
    }),
  },
  files: {
    allowAbsolutePaths: option("debug.allow-absolute-paths", boolean, false, {
      description: "Let callers name files outside the home's debug folder in admin_exportChain and the like.",
    }),
  },
  log: {
    level: option("log.level", oneOf(LOG_LEVELS), "info", {
      description: "Least important lines that are written.",
    }),
    format: option("log.format", oneOf(["auto", "pretty", "text", "json"]), "auto", {
      description:
        "pretty: calls, blocks and transactions, for people; auto: pretty for a dev chain, else text on a terminal and json elsewhere.",
    }),
  },
  metrics: {
    enable: option("metrics.enable", boolean, false, {
      description: "Serve metrics for Prometheus under /metrics.",
    }),
    address: option("metrics.address", hostPort, DEFAULTS.metricsAddress, {
      description: "Where metrics listen.",
    }),
  },
} as const;

/** Every setting in a row. */
export const OPTIONS: readonly Option<unknown>[] = Object.values(SCHEMA).flatMap(
  (group) => Object.values(group) as Option<unknown>[],
);

/** `json-rpc.ws-address` is `EVMINT_JSON_RPC_WS_ADDRESS` in the environment. */
export function environmentName(key: string): string {
  return `EVMINT_${key.replace(/[.-]/g, "_").toUpperCase()}`;
}

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
  gasTarget,
  hostPort,
  httpUrl,
  integer,
  listSuchAs,
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

/** All settings, by their place in `Config`, in the order of `app.toml`. */
export const SCHEMA = {
  chain: {
    name: option("chain.name", text, DEFAULTS.chainName, {
      description: "Chain name in the prefix of signed messages; wallets and contracts expect Ethereum.",
    }),
    retainBlocks: option("chain.retain-blocks", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description:
        "Number of newest blocks to keep with receipts and logs; archive keeps all. The node removes older blocks and their states in the background.",
    }),
  },
  mempool: {
    minimumGasPriceWei: option("minimum-gas-prices", amount, 0n, {
      description:
        "Lowest gas price the node accepts and proposes. miner_setGasPrice stores it here; a flag overrides it.",
    }),
    accountSlots: option("mempool.account-slots", integer(1), MEMPOOL_DEFAULTS.accountSlots, {
      dev: DEFAULTS.poolAccountSlotsDev,
      description: "Maximum executable transactions of one account in the pool, and as many after a nonce gap.",
    }),
    allowedAccounts: option("mempool.allowed-accounts", text, "", {
      description:
        "File with the accounts that may send transactions and create contracts, relative to the home; empty allows all.",
    }),
    bytesMax: option("mempool.size-limit", byteSize, MEMPOOL_DEFAULTS.bytesMax, {
      description:
        "Memory for pool transactions without blobs; transactions after a nonce gap may use a quarter of it.",
    }),
  },
  jsonRpc: {
    enable: option("json-rpc.enable", boolean, false, {
      dev: true,
      init: true,
      description: "Serve JSON-RPC over HTTP and WebSocket.",
    }),
    address: option("json-rpc.address", hostPort, DEFAULTS.rpcAddress, {
      description: "Address HTTP listens on.",
    }),
    wsAddress: option("json-rpc.ws-address", hostPort, DEFAULTS.wsAddress, {
      dev: DEFAULTS.wsAddressLoopback,
      init: DEFAULTS.wsAddressLoopback,
      description: "Address WebSocket listens on; the same address as HTTP shares the port.",
    }),
    api: option("json-rpc.api", listSuchAs("eth,net,web3"), DEFAULTS.rpcApi, {
      dev: ["all"],
      description:
        "Namespaces served over HTTP and WebSocket; all serves every one. Private methods also need a token.",
    }),
    corsOrigins: option("json-rpc.cors-origins", origins, DEFAULT_ALLOWED_ORIGINS, {
      dev: DEFAULTS.corsOriginsDev,
      description:
        "Origins of web pages that may call: SCHEME://HOST, :* for any port, * for every page. A leading + adds to the defaults.",
    }),
    vhosts: option("json-rpc.vhosts", listSuchAs("localhost,rpc.example.org"), DEFAULTS.rpcVhosts, {
      description: "Accepted host names of requests, besides IP addresses; * accepts every name.",
    }),
    compileSolidity: option("json-rpc.compile-solidity", boolean, false, {
      dev: true,
      description:
        "Compile sources that callers send, if the npm package solc is installed. Each compilation has half a minute and 640 MB in its own process.",
    }),
    nullPowFields: option("json-rpc.null-pow-fields", boolean, false, {
      description:
        "Serve nonce, sha3Uncles, difficulty and totalDifficulty as null; several libraries reject such blocks.",
    }),
    allowInsecureUnlock: option("json-rpc.allow-insecure-unlock", boolean, false, {
      description: "Allow unlocking accounts while a listener is not on loopback.",
    }),
    workers: option("json-rpc.workers", integer(0, 64), DEFAULTS.rpcWorkers, {
      description:
        "Threads for long calls and traces, divided among the processes that serve connections, at least one each; 0 runs such calls on the serving thread.",
    }),
    processes: option("json-rpc.processes", integer(0, 64), DEFAULTS.rpcProcesses, {
      dev: DEFAULTS.rpcProcessesDev,
      description: "Processes that serve HTTP and WebSocket connections; 0 serves them in the chain's process.",
    }),
    callGasMax: option("json-rpc.gas-cap", gas, DEFAULTS.rpcCallGasMax, {
      description: "Gas limit of one eth_call or eth_estimateGas; 0 removes the cap.",
    }),
    callTimeoutMs: option("json-rpc.evm-timeout", duration, DEFAULTS.rpcCallTimeoutMs, {
      description: "Time limit of one eth_call; 0 removes the limit.",
    }),
    allowUnprotected: option("json-rpc.allow-unprotected-txs", boolean, false, {
      // Deployers of well-known contracts are signed without a chain id, to work on every chain.
      dev: true,
      description: "Accept legacy transactions without a chain id (EIP-155) from callers.",
    }),
    txFeeWeiMax: option("json-rpc.fee-cap", amount, DEFAULTS.rpcTxFeeWeiMax, {
      description: "Maximum fee of one transaction sent through this node; 0 removes the cap.",
    }),
    logsResultsMax: option("json-rpc.logs-limit", integer(1), DEFAULTS.rpcLogsResultsMax, {
      description: "Maximum logs in one answer.",
    }),
  },
  /** The members that the JSON-RPC server takes. */
  rpcLimits: {
    bodyBytesMax: option("json-rpc.body-limit", byteSize, RPC_DEFAULTS.bodyBytesMax, {
      description: "Maximum size of an HTTP request body, a WebSocket message or an IPC message.",
    }),
    batchItemsMax: option("json-rpc.batch-limit", integer(1), RPC_DEFAULTS.batchItemsMax, {
      description: "Maximum calls in one batch.",
    }),
    httpConnectionsMax: option("json-rpc.connections-limit", integer(1), RPC_DEFAULTS.httpConnectionsMax, {
      description: "Maximum open HTTP connections; WebSockets have their own limit of 10,000.",
    }),
  } satisfies Record<keyof typeof RPC_DEFAULTS, Option<number>>,
  /** Access rules of methods. */
  access: {
    allowMethods: option("json-rpc.allow-methods", listSuchAs("eth_*,net_version"), ["*"], {
      description: "Methods of the served namespaces that are allowed; names, with * as a wildcard.",
    }),
    denyMethods: option("json-rpc.deny-methods", listSuchAs("debug_*,eth_getProof"), [], {
      description: "Methods that are not served, even if allow-methods names them.",
    }),
    requireToken: option("json-rpc.require-token", boolean, false, {
      description:
        "Require a token for every call over HTTP and WebSocket, not only for private methods; `rpc_modules` accepts any token.",
    }),
  },
  ipc: {
    path: option("ipc.path", text, "evmint.ipc", {
      description:
        "Path of a socket file, relative to the home, that serves JSON-RPC to this user only; private methods need no token there. Empty: no socket.",
    }),
  },
  evm: {
    speculationThreads: option("evm.speculation-threads", integer(0, 16), DEFAULTS.evmSpeculationThreads, {
      dev: 0,
      description:
        "Threads that execute transactions of the next block ahead of time, if blocks come at intervals; the chain's thread verifies and applies their results. 0 disables them.",
    }),
    compile: option("evm.compile", oneOf(["auto", "off"]), DEFAULTS.evmCompile, {
      description: "auto compiles contracts that use much gas on a thread, after which they run faster.",
    }),
  },
  consensus: {
    engine: option("consensus.engine", oneOf(["solo", "cometbft"]), "solo", {
      description: "Consensus engine: solo is one validator in this process, cometbft a network of validators.",
    }),
    blockTime: option(
      "consensus.block-time",
      blockTime,
      { intervalMs: DEFAULTS.blockTimeMs },
      {
        dev: "instant",
        description:
          "instant makes a block for pending transactions at once, manual on demand; a duration is the interval, 1s/30s has a longer one for empty solo blocks. Other clients import no blocks below 1s.",
      },
    ),
    gasLimit: option("consensus.gas-limit", gasTarget, DEFAULTS.blockGasLimit, {
      description: "Target block gas limit; it changes by at most 1/1024 per block.",
    }),
    feeRecipient: option("consensus.fee-recipient", address, ZERO_ADDRESS, {
      description: "Address that receives the tips of blocks this node proposes.",
    }),
    extraData: option("consensus.extra-data", bytes(32), new Uint8Array(0), {
      description: "extraData of blocks this node proposes.",
    }),
  },
  /** Settings for `consensus.engine = cometbft`. The node derives CometBFT's own configuration from them at each start. */
  cometbft: {
    binary: option("cometbft.binary", text, "cometbft", {
      description: "The cometbft program: a path, or a name on the PATH.",
    }),
    moniker: option("cometbft.moniker", text, "evmint", {
      description: "Name of this node among its peers.",
    }),
    p2pAddress: option(
      "cometbft.p2p-address",
      hostPort,
      { host: "0.0.0.0", port: 26656 },
      { description: "Address this node listens on for peers." },
    ),
    externalAddress: option("cometbft.external-address", text, "", {
      description: "host:port under which peers reach this node; empty uses the address they see.",
    }),
    persistentPeers: option("cometbft.persistent-peers", nodeAddresses, [], {
      description: "Peers the node stays connected to.",
    }),
    seeds: option("cometbft.seeds", nodeAddresses, [], {
      description: "Nodes to ask for peer addresses while this node has too few peers; they disconnect afterwards.",
    }),
    pex: option("cometbft.pex", unset(boolean), null, {
      description:
        "Exchange peer addresses with peers; empty means true, unless cometbft.local-net is set. Set false on a validator behind sentries.",
    }),
    privatePeers: option("cometbft.private-peers", nodeIds, [], {
      description: "Ids of peers whose addresses are not shared; a sentry lists its validators.",
    }),
    trustedPeers: option("cometbft.trusted-peers", nodeIds, [], {
      description: "Ids of peers that may connect even if the peer limit is reached.",
    }),
    rejectedPeers: option("cometbft.rejected-peers", nodeIds, [], {
      description: "Ids of nodes this node never connects to, such as those removed with admin_removePeer.",
    }),
    allowedNodesContract: option("cometbft.allowed-nodes-contract", unset(address), null, {
      description:
        "Contract that decides which nodes may connect, by connectionAllowed(bytes20 id) view returns (bool); empty allows all.",
    }),
    inboundPeersMax: option("cometbft.max-inbound-peers", integer(0, 1_000), 40, {
      description: "Maximum inbound peers, besides cometbft.trusted-peers.",
    }),
    localNet: option("cometbft.local-net", boolean, false, {
      description: "Accept repeated and private addresses, for nodes on one machine or private network.",
    }),
    metricsAddress: option("cometbft.metrics-address", unset(hostPort), null, {
      description: "Address of CometBFT's own Prometheus metrics, without TLS; empty disables them.",
    }),
    stateSyncServers: option(
      "cometbft.state-sync-servers",
      listSuchAs("127.0.0.1:26657,unix:///var/lib/evmint/cometbft/rpc.sock"),
      [],
      {
        description:
          "CometBFT RPC addresses of at least two nodes, each host:port or unix:///path. A home without data/ then restores a snapshot instead of fetching all blocks.",
      },
    ),
    trustBlock: option("cometbft.trust-block", unset(trustedBlock), null, {
      description:
        "Trusted block for state sync, at most a week old: HEIGHT:HASH with CometBFT's hash, as printed by `evmintd engine status`.",
    }),
    doubleSignCheckHeight: option("cometbft.double-sign-check-height", integer(0, 1_000), 3, {
      description:
        "After a start, a validator signs once this many new blocks lack its signature, or after some seconds if the network makes no blocks. With 0 it signs at once, even from an old copy of a home.",
    }),
    privValidatorLaddr: option("cometbft.priv-validator-laddr", text, "", {
      description:
        "Address on which CometBFT waits for a remote signer with the validator's key: unix:///path or tcp://host:port; empty: the key is in the home.",
    }),
    validatorPublicKey: option("cometbft.validator-public-key", bytes(33), new Uint8Array(0), {
      description: "Public key of the remote signer: 33 bytes, compressed.",
    }),
    rollbackBlocksMax: option("cometbft.rollback-blocks", integer(0), 100, {
      description:
        "Maximum blocks the node removes automatically if CometBFT's store ends before the chain, as after a power loss; it writes them to a file. Beyond that the chain stays, and CometBFT fetches the blocks from its peers.",
    }),
  },
  snapshot: {
    interval: option("snapshot.interval", integer(0), DEFAULTS.snapshotInterval, {
      description:
        "Blocks between two state snapshots for new nodes (state sync); 0 disables them. The node keeps the newest two: a new node has to fetch one within two intervals.",
    }),
  },
  /** Settings of a dev chain besides its flags (`dev-flags.ts`). */
  devChain: {
    forkUrls: option("dev.fork-url", listSuchAs("https://rpc.example.org"), [], {
      description:
        "Nodes of a remote chain that a new dev chain forks. The node reads state, blocks and logs from the first one that answers.",
    }),
  },
  index: {
    addresses: option("index.addresses", boolean, false, {
      // The index takes about 150 bytes and a fraction of a millisecond per transaction.
      dev: true,
      description: "Index transactions by the addresses they involve, for ots methods.",
    }),
    path: option("index.path", text, "", {
      description:
        "Folder of the index, relative to the home, such as one on another disk; empty: in the home. The next start moves the index there.",
    }),
  },
  explorer: {
    enable: option("explorer.enable", boolean, false, {
      dev: true,
      description:
        "Serve the block explorer at /explorer, the documentation at /docs and Etherscan's API at /api of the HTTP port. forge and Hardhat verify sources at /api, which needs json-rpc.compile-solidity.",
    }),
  },
  les: {
    serve: option("les.serve", integer(0, 10_000), 0, {
      description:
        "Percent of one core that anonymous callers may use, each within its own capacity; 0 disables the quotas. At least 2, because a free client takes 1.6.",
    }),
    checkpointOracle: option("les.checkpoint-oracle", unset(address), null, {
      description: "Address of the checkpoint oracle contract; empty disables it.",
    }),
    checkpointSigner: option("les.checkpoint-signer", unset(address), null, {
      description:
        "Unlocked account, an admin of the oracle contract, that votes for new checkpoints; empty disables voting.",
    }),
  },
  shh: {
    address: option("shh.address", unset(hostPort), null, {
      description:
        "Address this node listens on for Whisper peers (libp2p over TCP); it expects Whisper of the chain's peers at the same port. Empty disables both.",
    }),
    peers: option("shh.peers", listSuchAs("/ip4/10.0.0.2/tcp/30303/p2p/ID"), [], {
      description: "Whisper peers the node stays connected to: /ip4/HOST/tcp/PORT/p2p/ID.",
    }),
  },
  cache: {
    bytes: option("cache.size", byteSize, CACHE_BYTES, {
      description:
        "Memory of read caches: half for state trie nodes, 20 % for accounts and slots, 20 % for blocks, 10 % for code. Each RPC thread or process has half as much in addition, without trie nodes.",
    }),
  },
  state: {
    history: option("state.history", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description: "Number of newest states that can be read; archive keeps those of all stored blocks.",
    }),
    proofs: option("state.proofs", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description: "Number of newest states that eth_getProof can prove; archive: all that can be read.",
    }),
  },
  keystore: {
    strength: option("keystore.strength", oneOf(["standard", "light"]), "standard", {
      description:
        "Cost of one passphrase guess: standard takes 256 MiB and a second, light 4 MiB and a tenth of a second.",
    }),
    allowReadableByOthers: option("keystore.allow-readable-by-others", boolean, false, {
      description: "Accept key files that other users of this machine can read.",
    }),
  },
  tls: {
    cert: option("tls.cert", text, "", {
      description: "Certificate chain (PEM) for TLS on HTTP and WebSocket, relative to the home; empty disables TLS.",
    }),
    key: option("tls.key", text, "", { description: "Private key (PEM) of tls.cert." }),
    clientCa: option("tls.client-ca", text, "", {
      description:
        "Certificates of authorities (PEM), with their issuers up to the root. HTTP and WebSocket then serve only clients with a certificate signed by one of them; empty serves all.",
    }),
  },
  files: {
    allowAbsolutePaths: option("debug.allow-absolute-paths", boolean, false, {
      description:
        "Allow callers of admin_exportChain and similar methods to name files outside the home's debug folder.",
    }),
  },
  log: {
    level: option("log.level", oneOf(LOG_LEVELS), "info", {
      description: "Lowest level that is logged.",
    }),
    format: option("log.format", oneOf(["auto", "pretty", "text", "json"]), "auto", {
      description:
        "pretty shows calls, blocks and transactions for people. auto: pretty for a dev chain, otherwise text on a terminal and json elsewhere.",
    }),
  },
  metrics: {
    enable: option("metrics.enable", boolean, false, {
      description: "Serve Prometheus metrics at /metrics.",
    }),
    address: option("metrics.address", hostPort, DEFAULTS.metricsAddress, {
      description: "Address the metrics listener listens on.",
    }),
  },
  tracing: {
    endpoint: option("tracing.endpoint", unset(httpUrl), null, {
      description:
        "Collector that receives traces by OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`; empty disables tracing.",
    }),
  },
} as const;

/** All settings in a list. */
export const OPTIONS: readonly Option<unknown>[] = Object.values(SCHEMA).flatMap(
  (group) => Object.values(group) as Option<unknown>[],
);

/** `json-rpc.ws-address` is `EVMINT_JSON_RPC_WS_ADDRESS` in the environment. */
export function environmentName(key: string): string {
  return `EVMINT_${key.replace(/[.-]/g, "_").toUpperCase()}`;
}

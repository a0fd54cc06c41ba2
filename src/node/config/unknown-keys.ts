import { DEV_FLAG_OPTIONS } from "./dev-flags.ts";

/** Keys of geth or of earlier versions, and their replacements. */
export const REPLACED_KEYS: Readonly<Record<string, string>> = {
  "mempool.global-slots": "mempool.size-limit",
  "mempool.global-queue": "mempool.size-limit",
  "mempool.queue-size-limit": "mempool.size-limit",
  "mempool.account-queue": "mempool.account-slots",
  "mempool.price-limit": "minimum-gas-prices",
  "state.cache-size": "cache.size",
  "json-rpc.block-cache-size": "cache.size",
  "json-rpc.ws-message-limit": "json-rpc.body-limit",
  "docs.enable": "explorer.enable",
  "explorer.etherscan-api": "explorer.enable",
  "cometbft.trust-height": "cometbft.trust-block",
  "cometbft.trust-hash": "cometbft.trust-block",
  "cometbft.allowed-nodes-file": "cometbft.allowed-nodes-contract",
  "ipc.enable": "ipc.path",
  "json-rpc.ws-allow-methods": "json-rpc.allow-methods",
  "json-rpc.ws-deny-methods": "json-rpc.deny-methods",
};

/** Former settings that are constants now, by the part of the key before the dot. */
const FIXED_LIMITS: Readonly<Record<string, string>> = {
  mempool: "lifetime blob-verifications blob-proofs price-bump blob-size-limit",
  "json-rpc": `
    evm-memory-limit return-limit trace-timeout trace-size-limit trace-script-memory
    trace-filter-blocks bad-blocks-limit bad-blocks-size-limit trace-chains ots-page-size
    logs-size-limit logs-work-limit filter-terms-limit filter-timeout filters-limit
    total-filter-terms-limit connection-filters-limit subscriptions-limit
    total-subscriptions-limit subscription-terms-limit notification-queue-limit
    ws-connections-limit call-timeout trace-timeout-limit output-memory-limit fee-history-limit batch-response-limit depth-limit items-limit id-limit method-name-limit
    ipc-connections-limit headers-timeout body-timeout reply-timeout idle-timeout
    ws-ping-interval socket-calls-limit call-queue-limit socket-pause-size send-buffer-limit
    notification-buffer-limit input-memory-limit bad-tokens-limit bad-token-pause`,
  evm: "compile-cache-size compile-files-size",
  consensus: "clock-jump-limit quarantine-size",
  dev: "fork-cache-size",
  les: "section-size bloom-section-size confirmations",
  shh: `
    peers-limit pool-size identities-limit filters-limit posts-limit peer-rate-limit ban-time`,
  keystore: "passphrase-tries queue-limit",
  db: "name-limit key-limit value-limit database-limit databases-limit",
};

const IS_FIXED = "the limit is fixed (docs/reference/settings.md has its value); delete the line";

/** Keys of earlier versions without a replacement, and the reason. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  "cometbft.rpc-address": "CometBFT's own RPC is the socket cometbft/rpc.sock in the home; delete the line",
  "cometbft.max-outbound-peers": "use p2p.max_num_outbound_peers in config/cometbft.toml; delete the line",
  "consensus.accept-clock": "start once with --accept-clock to accept the clock; delete the line",
  "consensus.batch-above": "use --batch-above at each start of a dev chain; delete the line",
  "mempool.journal": "waiting transactions of a chain on disk are always stored; delete the line",
  "json-rpc.fast-http": "the node always answers simple calls directly from the socket; delete the line",
  "snapshot.restore-size-limit": "snapshots of any size are restored, on disk; delete the line",
  "shh.bootstrap": "a node with shh.address always connects to Whisper of the chain's peers; delete the line",
  "shh.persist": "identities and groups are always stored, encrypted; delete the line",
  ...Object.fromEntries(
    Object.entries(FIXED_LIMITS).flatMap(([table, names]) =>
      names
        .trim()
        .split(/\s+/)
        .map((name) => [`${table}.${name}`, IS_FIXED]),
    ),
  ),
};

/** Flags of geth and keys of evmd's `app.toml`, with the equivalent key. */
export const FOREIGN_KEYS: Readonly<Record<string, string>> = {
  http: "json-rpc.enable",
  "http.addr": "json-rpc.address",
  "http.port": "json-rpc.address",
  "http.api": "json-rpc.api",
  "http.corsdomain": "json-rpc.cors-origins",
  "http.vhosts": "json-rpc.vhosts",
  ws: "json-rpc.enable",
  "ws.addr": "json-rpc.ws-address",
  "ws.port": "json-rpc.ws-address",
  "ws.api": "json-rpc.api",
  "ws.origins": "json-rpc.cors-origins",
  ipcdisable: "ipc.path",
  ipcpath: "ipc.path",
  metrics: "metrics.enable",
  "metrics.addr": "metrics.address",
  "metrics.port": "metrics.address",
  "miner.etherbase": "consensus.fee-recipient",
  "miner.gaslimit": "consensus.gas-limit",
  "miner.gasprice": "minimum-gas-prices",
  "rpc.gascap": "json-rpc.gas-cap",
  "rpc.evmtimeout": "json-rpc.evm-timeout",
  "rpc.txfeecap": "json-rpc.fee-cap",
  "rpc.allow-unprotected-txs": "json-rpc.allow-unprotected-txs",
  "allow-insecure-unlock": "json-rpc.allow-insecure-unlock",
  "txpool.accountslots": "mempool.account-slots",
  "txpool.pricelimit": "minimum-gas-prices",
  "json-rpc.txfee-cap": "json-rpc.fee-cap",
  "json-rpc.logs-cap": "json-rpc.logs-limit",
  "json-rpc.max-open-connections": "json-rpc.connections-limit",
  "json-rpc.metrics-address": "metrics.address",
  "tls.certificate-path": "tls.cert",
  "tls.key-path": "tls.key",
};

/** Other nodes' settings without an equivalent key, and what to do instead. */
export const FOREIGN_WITHOUT_KEY: Readonly<Record<string, string>> = {
  datadir: "use --home",
  networkid: "the network's id is the chain id of block 0 (evmintd init --chain-id)",
  unlock: "call personal_unlockAccount, or send with personal_sendTransaction",
  mine: "a validator makes blocks automatically",
  syncmode: "a node fetches all blocks, or restores a snapshot (docs/operations/network.md)",
  gcmode: "set retention with retain-blocks, retain-history and retain-proofs (docs/operations/retention.md)",
  "evm.tracer": "request traces with debug_traceTransaction; delete the line",
  "evm.max-tx-gas-wanted": "a transaction may have 2^24 gas (EIP-7825); delete the line",
  "txpool.pricebump": IS_FIXED,
  "json-rpc.http-timeout": IS_FIXED,
  "json-rpc.filter-cap": IS_FIXED,
  "json-rpc.block-range-cap": "a log search is bounded by its work and its logs (json-rpc.logs-limit); delete the line",
  "json-rpc.feehistory-cap": IS_FIXED,
  "json-rpc.http-idle-timeout": IS_FIXED,
  "json-rpc.enable-indexer": "transactions and logs are always indexed; delete the line",
};

/**
 * What became of a removed key, or the equivalent of another program's key; undefined for a key that never existed.
 * @param spell writes a key as its source does: as a flag, a variable, or unchanged
 */
export function fateOfKey(name: string, spell: (key: string) => string): string | undefined {
  const replaced = Object.entries(REPLACED_KEYS).find(([key]) => spell(key) === name);
  if (replaced !== undefined) return `${spell(replaced[1])} takes its place`;
  const removed = Object.entries(REMOVED_KEYS).find(([key]) => spell(key) === name);
  if (removed !== undefined) return `this setting was removed: ${removed[1]}`;
  const flag = DEV_FLAG_OPTIONS.find(({ key }) => spell(`dev.${key}`) === name);
  if (flag !== undefined)
    return `use --${flag.key} at each start of a dev chain, or createNode's setting "${flag.key}"`;
  const foreign = Object.entries(FOREIGN_KEYS).find(([key]) => spell(key) === name);
  if (foreign !== undefined) return `use ${spell(foreign[1])}`;
  return Object.entries(FOREIGN_WITHOUT_KEY).find(([key]) => spell(key) === name)?.[1];
}

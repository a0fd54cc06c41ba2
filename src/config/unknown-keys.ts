/** Keys of geth or of earlier versions, and the key that takes their place. */
export const REPLACED_KEYS: Readonly<Record<string, string>> = {
  "mempool.global-slots": "mempool.size-limit",
  "mempool.global-queue": "mempool.size-limit",
  "mempool.queue-size-limit": "mempool.size-limit",
  "mempool.account-queue": "mempool.account-slots",
  "mempool.price-limit": "minimum-gas-prices",
  "state.cache-size": "cache.size",
  "json-rpc.block-cache-size": "cache.size",
  "json-rpc.ws-message-limit": "json-rpc.body-limit",
  "json-rpc.ws-allow-methods": "json-rpc.allow-methods",
  "json-rpc.ws-deny-methods": "json-rpc.deny-methods",
};

/** Limits that nobody had a reason to change; each is a constant now. By the part of the key before the dot. */
const FIXED_LIMITS: Readonly<Record<string, string>> = {
  mempool: "lifetime blob-verifications blob-proofs",
  "json-rpc": `
    evm-memory-limit return-limit trace-timeout trace-size-limit trace-script-memory
    trace-filter-blocks bad-blocks-limit bad-blocks-size-limit trace-chains ots-page-size
    logs-size-limit logs-work-limit filter-terms-limit filter-timeout filters-limit
    total-filter-terms-limit connection-filters-limit subscriptions-limit
    total-subscriptions-limit subscription-terms-limit notification-queue-limit
    fee-history-limit batch-response-limit depth-limit items-limit id-limit method-name-limit
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

/** Keys of earlier versions that no key takes the place of, and why. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  "cometbft.rpc-address": "CometBFT's own RPC is the socket cometbft/rpc.sock in the home; delete the line",
  "json-rpc.fast-http": "plain calls are always answered straight from the socket; delete the line",
  "shh.bootstrap": "a node with shh.address always connects to whisper of the chain's peers; delete the line",
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

/**
 * What became of a key that was one: the key in its place, or why there is none; undefined for a key that never was one.
 * @param spell how the source of `name` writes a key: as a flag, as a variable, or as it is
 */
export function fateOfKey(name: string, spell: (key: string) => string): string | undefined {
  const replaced = Object.entries(REPLACED_KEYS).find(([key]) => spell(key) === name);
  if (replaced !== undefined) return `${spell(replaced[1])} takes its place`;
  const removed = Object.entries(REMOVED_KEYS).find(([key]) => spell(key) === name);
  return removed && `it was removed: ${removed[1]}`;
}

/** The candidate with the fewest edits to `name`; undefined when none is near enough to be what was meant. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Levenshtein distance: insertions, deletions and replacements of one character. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}

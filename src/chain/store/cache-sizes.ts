/** Bytes of each cache of a chain. */
export type CacheSizes = {
  /** nodes of the newest state trie */
  readonly trieNodes: number;
  /** decoded accounts and slots of the newest state */
  readonly headState: number;
  /** the same of older states */
  readonly historicStates: number;
  /** decoded blocks */
  readonly blocks: number;
  readonly codes: number;
  /** JSON of logs */
  readonly logTexts: number;
};

/** Those of the store itself. */
export type StoreCacheSizes = Omit<CacheSizes, "trieNodes" | "logTexts">;

/**
 * Percent of the budget. A missing trie node costs a few microseconds and each update needs thousands, so nodes get half. A missing
 * block costs milliseconds, but clients mostly ask for the newest ones: 10 MB have the logs of some hundred blocks with 200 each.
 */
const SHARES: CacheSizes = {
  trieNodes: 50,
  headState: 8,
  historicStates: 12,
  blocks: 18,
  codes: 8,
  logTexts: 4,
};

/**
 * Default of `cache.size`. Its half for trie nodes has all nodes but the leaves of a million accounts; 20 MB of the newest state are some
 * 20,000 accounts with 60,000 slots.
 */
export const CACHE_BYTES = 256 << 20;

/** Divides `bytes` among the caches. */
export function divideCacheSize(bytes: number): CacheSizes {
  const part = (percent: number) => Math.floor((bytes * percent) / 100);
  return {
    trieNodes: part(SHARES.trieNodes),
    headState: part(SHARES.headState),
    historicStates: part(SHARES.historicStates),
    blocks: part(SHARES.blocks),
    codes: part(SHARES.codes),
    logTexts: part(SHARES.logTexts),
  };
}

/** Caches of each thread or process that follows a store whose own caches are `bytes`: half of those for blocks and states. */
export function followerCacheSizes(bytes: number): Omit<CacheSizes, "trieNodes"> {
  return divideCacheSize(bytes / 2);
}

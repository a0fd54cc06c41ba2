import type { LogMergeLimits } from "../../logs/log-index.ts";

/** When history and trie nodes, which wait in memory, go to their rows. */
export type MergeLimits = {
  /** A merge begins when this many versions wait, and ends before as many wait again: it holds up blocks where it has to. */
  readonly versionsMin: number;
  /** The same for the bytes of trie nodes. */
  readonly nodeBytesMin: number;
  /** Or when this many blocks wait, so that a restart has few records to read again. */
  readonly blocksMin: number;
  /** Keys merged in one transaction, during which nothing else runs. */
  readonly keysMax: number;
  /** Milliseconds after which a transaction ends with fewer. */
  readonly sliceMs?: number;
  /** Those of the log index, where they are not its own. */
  readonly logs?: LogMergeLimits;
};

/**
 * 50,000 versions take about 10 MB and are sorted in 10 ms. 48 MB of nodes are those of 45 blocks of 200 transfers among a million
 * accounts, computed again in less than a second. With more of them each merge writes fewer rows for a block: the nodes near the
 * roots are new in every block, and those below in every tenth.
 */
export const MERGE_LIMITS: MergeLimits = {
  versionsMin: 50_000,
  nodeBytesMin: 48 << 20,
  blocksMin: 1_000,
  keysMax: 2_000,
};

/**
 * For an import or a reindex, during which no request waits: a merge writes a key once, however many of its blocks have changed it, so
 * that fewer and longer ones write less. 200,000 versions take some 40 MB.
 */
export const BULK_MERGE_LIMITS: MergeLimits = {
  ...MERGE_LIMITS,
  versionsMin: 200_000,
  nodeBytesMin: 96 << 20,
};

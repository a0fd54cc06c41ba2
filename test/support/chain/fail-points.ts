/** The steps of writing rows that waited, without pruning. */
export const ROWS_FAIL_POINTS = ["rows:begin", "rows:end"] as const;

/** The steps of pruning. */
export const PRUNE_FAIL_POINTS = ["prune:begin", "prune:end", "log:drop"] as const;

/** The steps of `append` and of a merge at which a store calls its `failPoint`. */
export const FAIL_POINTS = [
  "append:begin",
  "log:segment",
  "log:write",
  "log:sync",
  "log:synced",
  "append:index",
  "append:commit",
  "append:committed",
  "append:end",
  "merge:begin",
  "merge:end",
] as const;

import type { BlockLogs } from "./block-logs.ts";
import type { LogFilter } from "./log-filter.ts";

/** Blocks whose logs are found together: a search goes from one such chunk to the next. */
export const LOG_CHUNK_BLOCKS = 65_536;

/** The logs of the canonical chain. */
export interface LogSource {
  /**
   * Numbers, ascending, of blocks from `from` to `to` that may hold a log `filter` matches; both in one chunk.
   * A block left out holds none.
   */
  candidates(filter: LogFilter, from: number, to: number): readonly number[];
  /**
   * The logs of a candidate, to be read before the source is called again; undefined when the block was rolled back meanwhile.
   * @throws KvMissingRowError
   */
  logsOf(number: number): BlockLogs | undefined;
}

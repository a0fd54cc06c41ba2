import { BlockPrunedError } from "../store/store-errors.ts";
import type { BlockLogs } from "./block-logs.ts";
import type { LogFilter } from "./log-filter.ts";

/** Blocks whose logs are found together: a search goes from one such chunk to the next. */
export const LOG_CHUNK_BLOCKS = 65_536;

/** The logs of the canonical chain. */
export interface LogSource {
  /**
   * Numbers, ascending, of blocks from `from` to `to` that may hold a log `filter` matches; both in one chunk.
   * A block left out holds none.
   * @throws BlockPrunedError
   */
  candidates(filter: LogFilter, from: number, to: number): readonly number[];
  /**
   * The logs of a candidate, to be read before the source is called again; undefined when the block was rolled back meanwhile.
   * @throws KvMissingRowError, BlockPrunedError
   */
  logsOf(number: number): BlockLogs | undefined;
  /** Another number after each rollback, before which what was read may be of removed blocks; absent where there is none. */
  epoch?(): number;
}

/** `logs` without those of blocks before `base`, which are pruned or may be at any time. */
export function logsFrom(base: () => number, logs: LogSource, epoch: () => number): LogSource {
  const assertServed = (number: number) => {
    const oldest = base();
    if (number < oldest) throw new BlockPrunedError({ number, base: oldest });
  };
  return {
    candidates(filter, from, to) {
      assertServed(from);
      return logs.candidates(filter, from, to);
    },
    logsOf(number) {
      assertServed(number);
      return logs.logsOf(number);
    },
    epoch,
  };
}

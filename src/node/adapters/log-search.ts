import type { CancelToken } from "../../base/threads/cancel-token.ts";
import { StepWork } from "../../base/threads/in-slices.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../base/threads/shared-slices.ts";
import { BlockLogs } from "../../chain/logs/block-logs.ts";
import { LOG_CHUNK_BLOCKS, type LogFilter, type LogSource } from "../../chain/logs/log-filter.ts";
import { LogListWriter, type LogTexts } from "../../rpc/methods/json/log-list.ts";
import type { LogTextCache } from "../../rpc/methods/json/log-text-cache.ts";
import type { BlockRange } from "../../rpc/methods/params/log-criteria.ts";
import type { FoundLogs, LogLimits } from "../../rpc/ports/chain-view.ts";
import { RequestTimeoutError } from "../../rpc/transport/errors.ts";

/** Each window doubles the previous one: a search may end after a few candidates. */
const FIRST_WINDOW_BLOCKS = 4_096;
/** Logs that count as much work as reading a block. */
const LOGS_PER_WORK = 64;
/** JSON of a block's logs to write between looks at the clock. */
const JSON_BYTES_PER_STEP = 128 << 10;

/**
 * Finds the logs of `range` that match `filter`, in order, all of one chain: after a rollback the search restarts. It ends early, between two
 * blocks, when a limit is exceeded. The first block is always searched completely, so that a caller can continue from `end`.
 *
 * @param texts of recently written logs
 * @throws RequestTimeoutError once `cancel` is aborted
 */
export function findLogs(
  source: LogSource,
  filter: LogFilter,
  range: BlockRange,
  limits: LogLimits,
  slices: SharedSlices,
  cancel?: Pick<CancelToken, "isAborted">,
  texts?: LogTextCache,
): MaybePromise<FoundLogs> {
  const search = new RepeatedSearch(source, () => new LogSearch(source, filter, range, limits, texts));
  const turn = slices.enter();
  return (turn === undefined ? search.run(slices) : undefined) ?? finish(search, slices, turn, cancel);
}

async function finish(
  search: RepeatedSearch,
  slices: SharedSlices,
  turn: Promise<void> | undefined,
  cancel: Pick<CancelToken, "isAborted"> | undefined,
): Promise<FoundLogs> {
  await turn;
  for (;;) {
    if (cancel?.isAborted) throw new RequestTimeoutError();
    const found = search.run(slices);
    if (found !== undefined) return found;
    await slices.next();
  }
}

/** Restarts whenever the chain was rolled back, since results may be stale. */
class RepeatedSearch {
  readonly #source: LogSource;
  readonly #begin: () => LogSearch;
  #search: LogSearch;
  #epoch: number | undefined;

  constructor(source: LogSource, begin: () => LogSearch) {
    this.#source = source;
    this.#begin = begin;
    this.#search = begin();
    this.#epoch = source.epoch?.();
  }

  /** See `LogSearch`. */
  run(slices: SharedSlices): FoundLogs | undefined {
    for (;;) {
      try {
        const found = this.#search.run(slices);
        if (!this.#isOvertaken()) return found;
      } catch (error) {
        if (!this.#isOvertaken()) throw error;
      }
      this.#search = this.#begin();
    }
  }

  #isOvertaken(): boolean {
    const epoch = this.#source.epoch?.();
    const isOvertaken = epoch !== this.#epoch;
    this.#epoch = epoch;
    return isOvertaken;
  }
}

/** A block under search, with the length of the list before it. */
type SearchedBlock = {
  readonly logs: BlockLogs;
  readonly texts: LogTexts | undefined;
  readonly count: number;
  readonly length: number;
  /** Logs that the search has compared. */
  looked: number;
};

class LogSearch {
  readonly #source: LogSource;
  readonly #filter: LogFilter;
  readonly #range: BlockRange;
  readonly #limits: LogLimits;
  readonly #texts: LogTextCache | undefined;
  readonly #list = new LogListWriter();
  /** Candidates of the current window. */
  #candidates: readonly number[] = [];
  #nextCandidate = 0;
  #nextWindowStart: number;
  #windowBlocks = FIRST_WINDOW_BLOCKS;
  readonly #workPerWindow: number;
  #work = 0;
  readonly #step = new StepWork();
  #isStepOver = false;
  /** The current block. */
  #block: SearchedBlock | undefined;

  constructor(
    source: LogSource,
    filter: LogFilter,
    range: BlockRange,
    limits: LogLimits,
    texts: LogTextCache | undefined,
  ) {
    this.#source = source;
    this.#filter = filter;
    this.#range = range;
    this.#limits = limits;
    this.#texts = texts;
    this.#nextWindowStart = range.from;
    const terms = filter.topics.map((topics) => topics?.size ?? 0);
    this.#workPerWindow = terms.reduce((sum, size) => sum + size, 1 + (filter.addresses?.size ?? 0));
  }

  /** undefined: the slice is over before the search is */
  run(slices: SharedSlices): FoundLogs | undefined {
    for (;;) {
      if (this.#block !== undefined) {
        const passed = this.#searchSome(this.#block);
        if (passed !== undefined) return passed;
        if (this.#isStepOver && slices.isOver()) return undefined;
        continue;
      }
      const number = this.#candidates[this.#nextCandidate];
      if (number === undefined) {
        if (this.#nextWindowStart > this.#range.to) return this.#found(this.#range.to + 1);
        if (this.#work > this.#limits.workMax) return this.#found(this.#nextWindowStart, "work");
        this.#beginWindow();
        if (slices.isOver()) return undefined;
        continue;
      }
      if (this.#work > this.#limits.workMax && number > this.#range.from) {
        return this.#found(number, "work");
      }
      this.#nextCandidate++;
      this.#work++;
      const logs = this.#source.logsOf(number);
      if (logs !== undefined) this.#block = this.#begin(logs);
      // The chain was rolled back while the search yielded.
      else if (this.#step.add(0) && slices.isOver()) return undefined;
    }
  }

  #begin(logs: BlockLogs): SearchedBlock {
    const { count, length } = this.#list;
    const { number, bytes } = logs;
    // A block that may take more than one step is copied: its bytes may belong to the store, which guarantees them for this turn only.
    if (bytes.length > JSON_BYTES_PER_STEP / 2) {
      return { logs: new BlockLogs(number, Buffer.from(bytes)), texts: undefined, count, length, looked: 0 };
    }
    return { logs, texts: this.#texts?.of(logs), count, length, looked: 0 };
  }

  #beginWindow(): void {
    const from = this.#nextWindowStart;
    const chunkEnd = Math.floor(from / LOG_CHUNK_BLOCKS + 1) * LOG_CHUNK_BLOCKS - 1;
    const end = Math.min(from + this.#windowBlocks - 1, chunkEnd, this.#range.to);
    this.#candidates = this.#source.candidates(this.#filter, from, end);
    this.#nextCandidate = 0;
    this.#nextWindowStart = end + 1;
    this.#windowBlocks *= 2;
    this.#work += this.#workPerWindow;
  }

  /** The result, if the block exceeds a limit. */
  #searchSome(block: SearchedBlock): FoundLogs | undefined {
    const { logs, texts } = block;
    const { number } = logs;
    const list = this.#list;
    const before = list.length;
    let looked: number;
    let isWhole = true;
    if (texts === undefined) {
      isWhole = list.addMatching(logs, this.#filter, false, JSON_BYTES_PER_STEP);
      looked = logs.logIndex + 1;
    } else looked = list.addKnown(texts, this.#filter);
    const bytes = list.length - before + (block.looked === 0 ? logs.bytes.length : 0);
    this.#isStepOver = this.#step.add(bytes, (block.looked === 0 ? 1 : 0) + (looked - block.looked) / LOGS_PER_WORK);
    this.#work += Math.floor(looked / LOGS_PER_WORK) - Math.floor(block.looked / LOGS_PER_WORK);
    block.looked = looked;
    const { resultsMax, bytesMax } = this.#limits;
    const limit = list.count > resultsMax ? "results" : list.length > bytesMax ? "bytes" : undefined;
    const isFirst = number === this.#range.from;
    if (isWhole || (limit !== undefined && !isFirst)) this.#block = undefined;
    if (limit === undefined) return undefined;
    if (isFirst) return isWhole ? this.#found(number + 1, limit) : undefined;
    list.rewind(block);
    return this.#found(number, limit);
  }

  #found(end: number, limit?: FoundLogs["limit"]): FoundLogs {
    const { count } = this.#list;
    return { json: this.#list.finish(), count, end, limit };
  }
}

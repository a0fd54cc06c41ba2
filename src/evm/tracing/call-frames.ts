import type { Log } from "../../base/types/receipt.ts";
import { FrameTable } from "../machine/hooks/frame-table.ts";
import type { FrameEnd, FrameStart, Tracer } from "../machine/tracer.ts";
import type { TraceBudget } from "./trace-budget.ts";

/** A log with where it stands among the logs of the block and the calls of its frame. */
type FrameLog = {
  readonly log: Log;
  /** in the block */
  readonly index: number;
  /** Calls the frame had made before it. */
  readonly position: number;
};

/** One frame of a transaction with the frames below it. */
export type CallFrame = {
  readonly start: FrameStart;
  end: FrameEnd;
  readonly calls: CallFrame[];
  readonly logs: FrameLog[];
  readonly parent: CallFrame | undefined;
  /** Logs the block had when the frame began. */
  readonly logsBefore: number;
};

const UNFINISHED: FrameEnd = { gasUsed: 0n, output: new Uint8Array(0), outcome: "success" };

/** The tree of a transaction's frames, built in the order in which they begin and end. */
class FrameTree {
  readonly #open: CallFrame[] = [];
  #logCount: number;
  /** The outermost frame. */
  top: CallFrame | undefined;

  constructor(logsBefore: number) {
    this.#logCount = logsBefore;
  }

  /** The innermost frame that has not ended. */
  get current(): CallFrame | undefined {
    return this.#open.at(-1);
  }

  enter(start: FrameStart, end = UNFINISHED): void {
    const parent = this.current;
    const frame: CallFrame = { start, end, calls: [], logs: [], parent, logsBefore: this.#logCount };
    parent?.calls.push(frame);
    this.top ??= frame;
    this.#open.push(frame);
  }

  addLog(log: Log): void {
    const index = this.#logCount++;
    this.current?.logs.push({ log, index, position: this.current.calls.length });
  }

  /** Ends the frames from `depth` on. Those that failed take their logs back, and the next one gets their numbers. */
  endFrom(depth: number): void {
    while (this.#open.length > depth) {
      const { end, logsBefore } = this.#open.pop()!;
      if (end.outcome !== "success") this.#logCount = logsBefore;
    }
  }

  /** Ends the innermost frame. */
  exit(end: FrameEnd): void {
    if (this.current === undefined) return;
    this.current.end = end;
    this.endFrom(this.#open.length - 1);
  }
}

/** Characters of a frame's JSON without its data, and of a log's. */
const FRAME_CHARS = 200;

/** Builds the tree of frames out of a tracer's hooks. */
export class CallFrameRecorder {
  readonly #tree: FrameTree;
  readonly #budget: Pick<TraceBudget, "take">;

  /** @param logsBefore how many logs the block has already */
  constructor(logsBefore: number, budget: Pick<TraceBudget, "take">) {
    this.#tree = new FrameTree(logsBefore);
    this.#budget = budget;
  }

  readonly onEnter = (start: FrameStart): void => {
    this.#budget.take(FRAME_CHARS + 2 * start.input.length);
    this.#tree.enter(start);
  };

  readonly onExit = (end: FrameEnd): void => {
    this.#budget.take(2 * end.output.length);
    this.#tree.exit(end);
  };

  readonly onLog = (log: Log): void => {
    this.#budget.take(FRAME_CHARS + 2 * log.data.length);
    this.#tree.addLog(log);
  };

  get current(): CallFrame | undefined {
    return this.#tree.current;
  }

  get top(): CallFrame | undefined {
    return this.#tree.top;
  }
}

/** Tables that wait for the next transaction: muxTracer takes several at a time. */
const FREE_TABLES_MAX = 4;
/** A table with room for more is not used again: nearly all transactions need some KiB. */
const TABLE_BYTES_MAX = 1 << 18;

/**
 * The tables of one thread, which the transactions of a block use one after the other: two buffers for each of them would make V8 collect all
 * garbage on account of memory outside its heap.
 */
export class FrameTables {
  readonly #free: FrameTable[] = [];

  acquire(onBytes: (count: number) => void): FrameTable {
    const table = this.#free.pop();
    if (table === undefined) return new FrameTable(onBytes);
    table.reset(onBytes);
    return table;
  }

  /** Nothing may read `table` any more. */
  release(table: FrameTable): void {
    if (this.#free.length < FREE_TABLES_MAX && table.byteLength <= TABLE_BYTES_MAX) this.#free.push(table);
  }
}

/** A log with how many frames had begun before it. */
type TableLog = { readonly log: Log; readonly depth: number; readonly framesBefore: number };

/** Records the frames of a transaction in a `FrameTable`, and makes the tree once it is over. */
export class FrameTreeRecorder {
  readonly hooks: Pick<Tracer, "frames" | "onLog">;
  readonly #tables: FrameTables;
  readonly #table: FrameTable;
  readonly #logs: TableLog[] = [];

  /** @param withLogs whether frames have their logs */
  constructor(budget: Pick<TraceBudget, "take">, tables: FrameTables, withLogs = false) {
    this.#tables = tables;
    // Each frame has an input and an output.
    const frames = tables.acquire((bytes) => budget.take(FRAME_CHARS / 2 + 2 * bytes));
    this.#table = frames;
    if (!withLogs) {
      this.hooks = { frames };
      return;
    }
    this.hooks = {
      frames,
      onLog: (log, depth) => {
        budget.take(FRAME_CHARS + 2 * log.data.length);
        this.#logs.push({ log, depth, framesBefore: frames.length });
      },
    };
  }

  /**
   * The outermost frame, once the execution is over; undefined where it had none. Inputs and outputs are valid until `dispose`.
   * @param logsBefore how many logs the block has already
   */
  top(logsBefore = 0): CallFrame | undefined {
    const table = this.#table;
    const tree = new FrameTree(logsBefore);
    let logs = 0;
    const addLogsUntil = (frames: number) => {
      for (let next = this.#logs[logs]; next !== undefined && next.framesBefore <= frames; next = this.#logs[++logs]) {
        tree.endFrom(next.depth + 1);
        tree.addLog(next.log);
      }
    };
    for (let index = 0; index < table.length; index++) {
      addLogsUntil(index);
      const { depth, start, end } = table.at(index);
      tree.endFrom(depth);
      tree.enter(start, end);
    }
    addLogsUntil(table.length);
    return tree.top;
  }

  dispose(): void {
    this.#tables.release(this.#table);
  }
}

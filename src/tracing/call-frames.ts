import { FrameTable } from "../evm/hooks/frame-table.ts";
import type { FrameEnd, FrameStart, Tracer } from "../evm/tracer.ts";
import type { Log } from "../types/receipt.ts";
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

/** Builds the tree of frames out of a tracer's hooks. */
export type CallFrameRecorder = {
  readonly onEnter: (start: FrameStart) => void;
  readonly onExit: (end: FrameEnd) => void;
  readonly onLog: (log: Log) => void;
  /** The innermost frame that has not ended. */
  current(): CallFrame | undefined;
  /** The outermost frame, once it has ended. */
  top(): CallFrame | undefined;
};

/** Characters of a frame's JSON without its data, and of a log's. */
const FRAME_CHARS = 200;

/** @param logsBefore how many logs the block has already */
export function createCallFrameRecorder(logsBefore: number, budget: Pick<TraceBudget, "take">): CallFrameRecorder {
  let top: CallFrame | undefined;
  let open: CallFrame | undefined;
  let logCount = logsBefore;
  return {
    onEnter(start) {
      budget.take(FRAME_CHARS + 2 * start.input.length);
      const frame: CallFrame = {
        start,
        end: UNFINISHED,
        calls: [],
        logs: [],
        parent: open,
        logsBefore: logCount,
      };
      if (open) open.calls.push(frame);
      else top = frame;
      open = frame;
    },
    onExit(end) {
      if (!open) return;
      budget.take(2 * end.output.length);
      open.end = end;
      // A frame that fails takes its logs back, and the next one gets their numbers.
      if (end.outcome !== "success") logCount = open.logsBefore;
      open = open.parent;
    },
    onLog(log) {
      budget.take(FRAME_CHARS + 2 * log.data.length);
      open?.logs.push({ log, index: logCount, position: open.calls.length });
      logCount++;
    },
    current: () => open,
    top: () => top,
  };
}

/** Records the frames of a transaction in a `FrameTable`, and makes the tree once it is over. */
export class FrameTreeRecorder {
  readonly hooks: Pick<Tracer, "frames">;
  readonly #table: FrameTable;

  constructor(budget: Pick<TraceBudget, "take">) {
    // Each frame has an input and an output.
    this.#table = new FrameTable((bytes) => budget.take(FRAME_CHARS / 2 + 2 * bytes));
    this.hooks = { frames: this.#table };
  }

  /** The outermost frame, once the execution is over; undefined where it had none. */
  top(): CallFrame | undefined {
    const open: CallFrame[] = [];
    for (let index = 0; index < this.#table.length; index++) {
      const { depth, start, end } = this.#table.at(index);
      const parent = open[depth - 1];
      const frame: CallFrame = { start, end, calls: [], logs: [], parent, logsBefore: 0 };
      parent?.calls.push(frame);
      open[depth] = frame;
    }
    return open[0];
  }
}

const UNFINISHED: FrameEnd = { gasUsed: 0n, output: new Uint8Array(0), outcome: "success" };

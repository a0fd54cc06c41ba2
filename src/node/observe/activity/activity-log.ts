import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { JsonText } from "../../../rpc/transport/codec.ts";
import type { RawParams } from "../../../rpc/transport/dispatch/message.ts";
import { countText } from "./amounts.ts";
import { type BlockReport, blockLines, hiddenText } from "./block-text.ts";
import { type CallWords, callLines } from "./call-text.ts";
import { type CallRecord, CallWindow } from "./call-window.ts";
import type { Paint } from "./paint.ts";

/** Frequency and volume of a dev chain's log. */
export const ACTIVITY_LIMITS = {
  /** Time a call waits for equal calls, to share their line; too short to notice. */
  gatherMs: 100,
  /** Maximum of `gatherMs`, which grows while a program repeats the same call. */
  gatherMsMax: 30_000,
  /** Time a call waits for its detail lines; the first JavaScript tracer takes a second to start. */
  detailsMsMax: 2_000,
  /** Lines for calls per second; further calls are only counted. A screen has fewer lines. */
  linesPerSecond: 100,
} as const;

type ActivityLogModules = {
  /** Takes complete lines in one piece. */
  readonly write: (text: string) => void;
  readonly paint: Paint;
  readonly timers: Pick<Timers, "now" | "after">;
  /** Whether lines of its level are written. */
  readonly isEnabled: () => boolean;
};

/** Consecutive blocks without transactions. */
type EmptyBlocks = { first: number; last: number; count: number };

/** Blocks that arrived faster than the log could show them, and their transactions. */
type HiddenBlocks = { first: number; last: number; count: number; failed: number };

/** Lines below a call's line; undefined if none. Never rejects. */
type Details = (method: string, params: RawParams, isFailed: boolean) => Promise<readonly string[]> | undefined;

const NO_WORDS = (record: CallRecord): CallWords => ({
  target: "",
  result: record.result ?? "",
  reason: record.failed?.message ?? "",
});

/**
 * The log for users of a dev chain: calls, blocks and transactions as they happen. It gathers equal calls and empty blocks until another event,
 * or for a time that grows while nothing new happens. Under load it counts what it does not print.
 */
export class ActivityLog {
  readonly #modules: ActivityLogModules;
  readonly #window = new CallWindow();
  /** Calls of the last print; their repetition is not news. */
  #recent = new Set<string>();
  #hasRecentBlocks = false;
  #empty: EmptyBlocks | undefined;
  #hidden: HiddenBlocks | undefined;
  #repeatMs: number = ACTIVITY_LIMITS.gatherMs;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;
  #second = 0;
  #linesLeft: number = ACTIVITY_LIMITS.linesPerSecond;
  /** Calls of this second that exceeded the line limit. */
  #unprinted = 0;
  /** Set by the node once names are known. */
  #wordsOf: (record: CallRecord) => CallWords = NO_WORDS;
  #isMuted: () => boolean = () => false;
  #detailsOf: Details = () => undefined;
  readonly #pendingDetails = new Set<Promise<void>>();
  #heldUntilMs = 0;

  constructor(modules: ActivityLogModules) {
    this.#modules = modules;
  }

  connect(node: {
    /** Whether a caller has switched it off. */
    readonly isMuted: () => boolean;
    readonly wordsOf: (record: CallRecord) => CallWords;
    readonly detailsOf: Details;
    readonly headNumber: () => number;
  }): void {
    this.#window.headNumber = node.headNumber;
    this.#isMuted = node.isMuted;
    this.#wordsOf = node.wordsOf;
    this.#detailsOf = node.detailsOf;
  }

  /** Whether anything may be printed now. */
  get isOn(): boolean {
    return this.#modules.isEnabled() && !this.#isMuted();
  }

  /** Notes the end of a call. On the hot path: costs one map lookup. */
  readonly call = (
    method: string,
    params: RawParams,
    milliseconds: number,
    result: JsonText | undefined,
    error: unknown,
  ): void => {
    if (!this.isOn) return;
    const key = this.#window.add(method, params, milliseconds, result, error);
    if (key !== undefined) {
      this.#gather(this.#recent.has(key));
      const details = this.#detailsOf(method, params, error !== undefined);
      if (details !== undefined) this.#addDetails(key, details);
    } else if (this.#timer === undefined) this.#gather(true);
  };

  /** Adds calls that another process counted. */
  merge(records: readonly CallRecord[], more: number): void {
    if (!this.isOn) return;
    const keys = this.#window.merge(records, more);
    this.#gather(keys.every((key) => this.#recent.has(key)));
  }

  /** Resolves once the detail lines of all calls so far are known: await it before printing a later event. */
  async settled(): Promise<void> {
    await Promise.all(this.#pendingDetails);
  }

  #addDetails(key: string, details: Promise<readonly string[]>): void {
    const pending = details.then((lines) => {
      this.#window.note(key, lines);
      this.#pendingDetails.delete(pending);
    });
    if (this.#pendingDetails.size === 0) this.#heldUntilMs = this.#modules.timers.now() + ACTIVITY_LIMITS.detailsMsMax;
    this.#pendingDetails.add(pending);
  }

  emptyBlock(number: number): void {
    if (!this.isOn) return;
    if (this.#empty !== undefined && this.#empty.last + 1 !== number) this.flush();
    if (this.#empty === undefined) this.#empty = { first: number, last: number, count: 1 };
    else {
      this.#empty.last = number;
      this.#empty.count++;
    }
    this.#gather(this.#hasRecentBlocks);
  }

  block(report: BlockReport): void {
    this.print(blockLines(report, this.#modules.paint));
  }

  hideBlock(number: number, { count, failed }: BlockReport["hidden"]): void {
    if (!this.isOn) return;
    this.#hidden ??= { first: number, last: number, count: 0, failed: 0 };
    this.#hidden.last = number;
    this.#hidden.count += count;
    this.#hidden.failed += failed;
    this.#gather(false);
  }

  /** Prints the lines of one event, after everything before it. */
  print(lines: readonly string[]): void {
    if (!this.isOn) return;
    this.flush();
    this.#modules.write(`${lines.join("\n")}\n`);
  }

  /** Prints the gathered calls. */
  readonly flush = (): void => {
    this.#timer?.cancel();
    this.#timer = undefined;
    const lines = this.#takeLines();
    if (lines.length > 0) this.#modules.write(`${lines.join("\n")}\n`);
  };

  /** Prints soon, or later if nothing is new. */
  #gather(isRepeated: boolean): void {
    if (!isRepeated) this.#repeatMs = ACTIVITY_LIMITS.gatherMs;
    const dueMs = this.#modules.timers.now() + this.#repeatMs;
    if (this.#timer !== undefined && this.#timer.dueMs <= dueMs) return;
    this.#timer?.cancel();
    const timer = this.#modules.timers.after(this.#repeatMs, "log for people", () => this.#onTime());
    this.#timer = { dueMs, cancel: () => timer.cancel() };
  }

  #onTime(): void {
    if (this.#pendingDetails.size > 0 && this.#modules.timers.now() < this.#heldUntilMs) {
      this.#timer = undefined;
      this.#gather(false);
      return;
    }
    const isNew = this.#hasNews();
    this.#repeatMs = isNew ? ACTIVITY_LIMITS.gatherMs : Math.min(2 * this.#repeatMs, ACTIVITY_LIMITS.gatherMsMax);
    this.flush();
    if (this.#unprinted > 0) this.#gather(false);
  }

  #hasNews(): boolean {
    if (this.#hidden !== undefined || (this.#empty !== undefined && !this.#hasRecentBlocks)) return true;
    for (const key of this.#window.keys) if (!this.#recent.has(key)) return true;
    return false;
  }

  #takeLines(): string[] {
    const { paint, timers } = this.#modules;
    const lines: string[] = [];
    const second = Math.floor(timers.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#linesLeft = ACTIVITY_LIMITS.linesPerSecond;
      if (this.#unprinted > 0) lines.push(paint.dim(`… ${countText(this.#unprinted)} more calls`));
      this.#unprinted = 0;
    }
    if (this.#hidden !== undefined) lines.push(this.#hiddenLine(this.#hidden));
    if (this.#empty !== undefined) lines.push(this.#emptyLine(this.#empty));
    if (this.#hasNews()) {
      this.#recent = new Set(this.#window.keys);
      this.#hasRecentBlocks = this.#empty !== undefined;
    }
    this.#empty = undefined;
    this.#hidden = undefined;
    const { records, more } = this.#window.take();
    this.#unprinted += more;
    for (const record of records) {
      if (this.#linesLeft > 0) {
        this.#linesLeft--;
        lines.push(...callLines(record, this.#words(record), paint));
      } else this.#unprinted += record.count;
    }
    return lines;
  }

  /** A failure to find names must not suppress the line. */
  #words(record: CallRecord): CallWords {
    try {
      return this.#wordsOf(record);
    } catch {
      return NO_WORDS(record);
    }
  }

  #emptyLine({ first, last, count }: EmptyBlocks): string {
    const { paint } = this.#modules;
    if (count === 1) return `${paint.bold(`block ${first}`)}  empty`;
    return `${paint.bold(`blocks ${first} to ${last}`)}  ${countText(count)} empty`;
  }

  #hiddenLine({ first, last, ...hidden }: HiddenBlocks): string {
    const range = first === last ? `block ${first}` : `blocks ${first} to ${last}`;
    return this.#modules.paint.dim(`${range}  … ${hiddenText(hidden)}`);
  }
}

/** The activity log of a root logger, if it has one. */
export function activityOf(log: Logger): ActivityLog | undefined {
  return "activity" in log ? (log as { activity: ActivityLog }).activity : undefined;
}

import { invariant } from "../../../base/errors.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { Audience, Group } from "./audience.ts";

/** The notifier runs this long before other work gets its turn. */
const SLICE_MS = 5;
/** Text written to one connection at once. */
const WRITE_CHARS = 256 * 1024;
/** Results sent together: the work of a slice for one group. */
const JOB_CHARS = 32 * 1024;
/** What a result that is not encoded yet counts in the queue. */
const UNENCODED_CHARS = 1024;

const IS_ASCII = /^[\0-\x7f]*$/;

/** JSON text in ASCII, or how to make it when it is sent. */
export type Result = string | (() => string);

/** Notifications to the same groups, in order. */
type Job = { readonly groups: readonly Group[]; readonly results: Result[]; chars: number };

export type NotifierOptions = {
  /** Characters of results that may wait. Beyond it the connections with the most subscribers of an event are closed. */
  readonly queueCharsMax: number;
  /** Receives errors of connections. */
  readonly onError: (error: unknown) => void;
};

/**
 * Sends notifications in the order they were published, in slices of the event loop: neither the block an event reports nor a
 * request waits until thousands of sockets are written to. A result is encoded once for all its subscribers, and the
 * notifications of one connection are written together.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #timers: Pick<Timers, "now">;
  readonly #runSoon: () => void;
  #queue: (Job | Generator<void>)[] = [];
  #next = 0;
  #nextGroup = 0;
  #waitingChars = 0;
  #isScheduled = false;

  constructor(options: NotifierOptions, timers: Pick<Timers, "now" | "deferred">) {
    this.#options = options;
    this.#timers = timers;
    this.#runSoon = timers.deferred("notifications", () => {
      // Work of this slice may publish: that is for the next one.
      this.#runSlice();
      this.#isScheduled = false;
      this.#schedule();
    });
  }

  /** Characters of results that wait. */
  get waitingChars(): number {
    return this.#waitingChars;
  }

  /** Sends `result` to the subscribers `audience` has now. */
  publish(audience: Audience, result: Result): void {
    this.publishTo(audience.groups, result);
  }

  /** Sends `result` to the subscribers an audience had when these were its groups. */
  publishTo(all: readonly Group[], result: Result): void {
    if (all.length === 0) return;
    if (typeof result === "string") assertAscii(result);
    let groups = all;
    const chars = typeof result === "string" ? result.length : UNENCODED_CHARS;
    const excess = (this.#waitingChars + chars) / this.#options.queueCharsMax;
    if (excess > 1) groups = withoutLargest(groups, excess > 2);
    if (groups.length === 0) return;
    this.#waitingChars += chars;
    const last = this.#queue.at(-1);
    // What is being sent already has passed some of its groups.
    const isBegun = this.#next === this.#queue.length - 1 && this.#nextGroup > 0;
    const isSame = last !== undefined && "results" in last && last.groups === groups;
    if (isSame && !isBegun && last.chars < JOB_CHARS) {
      last.results.push(result);
      last.chars += chars;
    } else this.#queue.push({ groups, results: [result], chars });
    this.#schedule();
  }

  /** Runs work that publishes, in order with other notifications; it yields where it may be interrupted. */
  run(work: Generator<void>): void {
    this.#queue.push(work);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#next >= this.#queue.length) return;
    this.#isScheduled = true;
    this.#runSoon();
  }

  #runSlice(): void {
    const end = this.#timers.now() + SLICE_MS;
    do {
      const item = this.#queue[this.#next];
      if (item === undefined) break;
      let isDone: boolean;
      try {
        isDone = "results" in item ? this.#sendToNextGroup(item) : item.next().done === true;
      } catch (error) {
        this.#options.onError(error);
        isDone = !("results" in item) || this.#nextGroup >= item.groups.length;
      }
      if (!isDone) continue;
      if ("results" in item) this.#waitingChars -= item.chars;
      this.#next++;
      this.#nextGroup = 0;
    } while (this.#timers.now() < end);
    this.#queue = this.#queue.slice(this.#next);
    this.#next = 0;
  }

  /** True when it was the last one. */
  #sendToNextGroup({ groups, results }: Job): boolean {
    const { connection, subscribers } = groups[this.#nextGroup++]!;
    let messages: string[] = [];
    let chars = 0;
    for (const result of results) {
      const text = typeof result === "string" ? result : assertAscii(result());
      for (const subscriber of subscribers) {
        const message = subscriber.message(text);
        if (message === undefined) continue;
        messages.push(message);
        chars += message.length;
        if (chars < WRITE_CHARS) continue;
        connection.notify(messages);
        messages = [];
        chars = 0;
      }
    }
    if (messages.length > 0) connection.notify(messages);
    return this.#nextGroup >= groups.length;
  }
}

/** Text of one byte a character is written without a copy. */
function assertAscii(text: string): string {
  invariant(IS_ASCII.test(text), "a notification is ASCII");
  return text;
}

/** Closes the connection with the most subscribers, or all. What is left can be served. */
function withoutLargest(groups: readonly Group[], all: boolean): readonly Group[] {
  if (all) {
    for (const { connection } of groups) connection.overrun();
    return [];
  }
  const largest = groups.reduce((a, b) => (b.subscribers.length > a.subscribers.length ? b : a));
  largest.connection.overrun();
  return groups.filter((group) => group !== largest);
}

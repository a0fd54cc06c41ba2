import { invariant } from "../../errors.ts";
import type { Subscriber } from "./subscriber.ts";

/** Notices sent before other work gets its turn: some 5 ms. */
const SENDS_PER_TURN = 500;
/** So many wait at most, some 100 bytes each; behind that whoever publishes has to wait. */
const WAITING_MAX = 500_000;

const IS_ASCII = /^[\0-\x7f]*$/;

type Job = { readonly subscribers: readonly Subscriber[]; readonly result: string };

/**
 * Sends notices to many subscribers in the order they were published, a part in each turn of the event loop: neither the block that
 * is told of nor a request waits until thousands of sockets are written to.
 */
export class Notifier {
  readonly #defer: (work: () => void) => void;
  readonly #onError: (error: unknown) => void;
  #jobs: Job[] = [];
  #nextJob = 0;
  #nextSubscriber = 0;
  #waiting = 0;
  #isScheduled = false;

  /**
   * @param options.defer runs work in a later turn; setImmediate if not given
   * @param options.onError is told what a subscriber's connection threw
   */
  constructor(options: {
    readonly defer?: (work: () => void) => void;
    readonly onError: (error: unknown) => void;
  }) {
    this.#defer = options.defer ?? ((work) => void setImmediate(work));
    this.#onError = options.onError;
  }

  /**
   * @param subscribers those of now: who comes later is not told
   * @param result JSON text in ASCII; looked at here, once for all of them
   */
  publish(subscribers: Iterable<Subscriber>, result: string): void {
    const list = Array.from(subscribers);
    if (list.length === 0) return;
    invariant(IS_ASCII.test(result), "a notice is ASCII");
    this.#jobs.push({ subscribers: list, result });
    this.#waiting += list.length;
    if (this.#waiting > WAITING_MAX) this.#send(this.#waiting);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting === 0) return;
    this.#isScheduled = true;
    this.#defer(() => {
      this.#isScheduled = false;
      this.#send(SENDS_PER_TURN);
      this.#schedule();
    });
  }

  #send(count: number): void {
    for (let left = count; left > 0 && this.#waiting > 0; left--) {
      const { subscribers, result } = this.#jobs[this.#nextJob]!;
      try {
        subscribers[this.#nextSubscriber]!.notify(result);
      } catch (error) {
        this.#onError(error);
      }
      this.#waiting--;
      if (++this.#nextSubscriber < subscribers.length) continue;
      this.#nextSubscriber = 0;
      this.#nextJob++;
    }
    this.#jobs = this.#jobs.slice(this.#nextJob);
    this.#nextJob = 0;
  }
}

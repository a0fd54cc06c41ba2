import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";

/**
 * How long the loop looks for the next request before it sleeps, in milliseconds: a client that sends it as soon as it has its answer takes 20 to 80
 * microseconds. A client that takes longer is not waited for again until it has sent so many in a row anew.
 */
const POLLING_MS = 0.1;
/** A request that comes within this time came as soon as it could where both threads had to be woken up, in milliseconds. */
const SOON_MS = 0.25;

/**
 * So many requests in a row have to come soon from one client, without one of another: of eight clients, one has four in a row now and then, and several are served faster
 * when their requests come together. Connections that are open and send nothing do not count.
 */
export const IN_A_ROW_MIN = 16;

type LoopClock = {
  readonly now: () => number;
  /** Runs `look` in the next turn of the loop, which then does not sleep before. */
  readonly nextTurn: (look: () => void) => void;
};

/**
 * Keeps the event loop awake for a moment after an answer to the one client that sends each request as soon as it has the answer to the last (ADR 99). A client
 * that slows down costs one such moment, and an idle node nothing.
 */
export class LoopPolling {
  readonly #clock: LoopClock;
  /** Who was answered last, and when; undefined once a request has come. */
  #answered: { readonly client: object; readonly at: number } | undefined;
  #inARow = 0;
  #isPolling = false;

  constructor(clock: LoopClock = { now: () => performance.now(), nextTurn: setImmediate }) {
    this.#clock = clock;
  }

  /** A request of `client` is there. */
  arrived(client: object): void {
    const last = this.#answered;
    if (last === undefined) return;
    this.#answered = undefined;
    const isSoon = last.client === client && this.#clock.now() - last.at <= SOON_MS;
    this.#inARow = isSoon ? this.#inARow + 1 : 0;
  }

  /** Answers were written, the last one to `client`, and no other request is there. */
  answered(client: object): void {
    this.#answered = { client, at: this.#clock.now() };
    if (this.#inARow < IN_A_ROW_MIN || this.#isPolling) return;
    this.#isPolling = true;
    this.#clock.nextTurn(this.#look);
  }

  readonly #look = (): void => {
    const last = this.#answered;
    const isLate = last !== undefined && this.#clock.now() - last.at > POLLING_MS;
    if (isLate) this.#inARow = 0;
    this.#isPolling = last !== undefined && !isLate;
    if (this.#isPolling) this.#clock.nextTurn(this.#look);
  };
}

/** Undefined where the client would need the same core to send its request. */
export function createLoopPolling(): LoopPolling | undefined {
  return availableParallelism() > 1 ? new LoopPolling() : undefined;
}

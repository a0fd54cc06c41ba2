import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";

/**
 * How long the loop looks for the next request before it sleeps, in milliseconds: a client that sends it as soon as it has its answer takes 20 to 80
 * microseconds, and to wake a sleeping thread takes as long. A client that takes longer is never waited for.
 */
const POLLING_MS = 0.1;

/** So many requests in a row have to come soon. */
const IN_A_ROW_MIN = 4;

type LoopClock = {
  readonly now: () => number;
  /** Runs `look` in the next turn of the loop, which then does not sleep before. */
  readonly nextTurn: (look: () => void) => void;
};

/**
 * Keeps the event loop awake for a moment after an answer to a client that sends each request as soon as it has the answer to the last (ADR 99). A client that slows
 * down costs one such moment, and an idle node nothing. Requests of several clients come together when the loop sleeps, and are served faster.
 */
export class LoopPolling {
  readonly #clock: LoopClock;
  /** When the only client was answered; undefined once a request has come. */
  #answeredAt: number | undefined;
  #inARow = 0;
  #isPolling = false;

  constructor(clock: LoopClock = { now: () => performance.now(), nextTurn: setImmediate }) {
    this.#clock = clock;
  }

  /** A request is there. */
  arrived(): void {
    if (this.#answeredAt === undefined) return;
    const isSoon = this.#clock.now() - this.#answeredAt <= POLLING_MS;
    this.#answeredAt = undefined;
    this.#inARow = isSoon ? this.#inARow + 1 : 0;
  }

  /** An answer was written, and no other request is there. @param clients that are connected */
  answered(clients: number): void {
    if (clients !== 1) {
      this.#answeredAt = undefined;
      this.#inARow = 0;
      return;
    }
    this.#answeredAt = this.#clock.now();
    if (this.#inARow < IN_A_ROW_MIN || this.#isPolling) return;
    this.#isPolling = true;
    this.#clock.nextTurn(this.#look);
  }

  readonly #look = (): void => {
    this.#isPolling = this.#answeredAt !== undefined && this.#clock.now() - this.#answeredAt <= POLLING_MS;
    if (this.#isPolling) this.#clock.nextTurn(this.#look);
  };
}

/** Undefined where the client would need the same core to send its request. */
export function createLoopPolling(): LoopPolling | undefined {
  return availableParallelism() > 1 ? new LoopPolling() : undefined;
}

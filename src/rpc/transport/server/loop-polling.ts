import { availableParallelism } from "node:os";
import type { Timers } from "../../../telemetry/timers.ts";

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

/**
 * Keeps the event loop awake for a moment after an answer to the one client that sends each request as soon as it has the answer to the last (ADR 99). A client
 * that slows down costs one such moment, and an idle node nothing.
 */
export class LoopPolling {
  readonly #now: () => number;
  /** Looks again in the next turn of the loop, which then does not sleep before. */
  readonly #lookSoon: () => void;
  /** Who was answered last, and when; undefined once a request has come. */
  #answered: { readonly client: object; readonly at: number } | undefined;
  #inARow = 0;
  #isPolling = false;

  constructor(timers: Pick<Timers, "now" | "deferred">) {
    this.#now = () => timers.now();
    this.#lookSoon = timers.deferred("polling of the event loop", this.#look);
  }

  /** A request of `client` is there. */
  arrived(client: object): void {
    const last = this.#answered;
    if (last === undefined) return;
    this.#answered = undefined;
    const isSoon = last.client === client && this.#now() - last.at <= SOON_MS;
    this.#inARow = isSoon ? this.#inARow + 1 : 0;
  }

  /** Answers were written, the last one to `client`, and no other request is there. */
  answered(client: object): void {
    this.#answered = { client, at: this.#now() };
    if (this.#inARow < IN_A_ROW_MIN || this.#isPolling) return;
    this.#isPolling = true;
    this.#lookSoon();
  }

  readonly #look = (): void => {
    const last = this.#answered;
    const isLate = last !== undefined && this.#now() - last.at > POLLING_MS;
    if (isLate) this.#inARow = 0;
    this.#isPolling = last !== undefined && !isLate;
    if (this.#isPolling) this.#lookSoon();
  };
}

/** Undefined where the client would need the same core to send its request. It looks at the machine's clock: on one that stands still the loop would spin. */
export function createLoopPolling(timers: Timers): LoopPolling | undefined {
  if (availableParallelism() === 1) return undefined;
  return new LoopPolling({ now: () => performance.now(), deferred: (where, work) => timers.deferred(where, work) });
}

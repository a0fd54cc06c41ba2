import { hexDigits } from "../../base/primitives/hex.ts";
import type { CallArguments } from "../../evm/execution/call/call-arguments.ts";

/** In a thread of lower priority: longer than the waits for a processor that a short call may have met twice. */
const LONG_MS = 10;
/** What was too long becomes short where the state changes: it is tried again after so long. */
const REMEMBERED_MS = 10_000;
/** Some 2 KB each at most. */
const CALLS_MAX = 1_000;
/** Calls with more calldata are tried each time: it would take long to compare. */
const DATA_BYTES_MAX = 512;

/** Calls that took long in another thread, for which they need not be tried first. Programs that wait for a result send the same one again and again. */
export class LongCalls {
  readonly #now: () => number;
  /** Until when each is remembered, the oldest first. */
  readonly #untilMs = new Map<string, number>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  has(method: string, args: CallArguments | undefined): boolean {
    // The usual case: nothing is looked up.
    if (this.#untilMs.size === 0) return false;
    const key = keyOf(method, args);
    const untilMs = key === undefined ? undefined : this.#untilMs.get(key);
    if (untilMs === undefined) return false;
    if (this.#now() < untilMs) return true;
    this.#untilMs.delete(key!);
    return false;
  }

  /** @param ms duration of the call in another thread */
  note(method: string, args: CallArguments | undefined, ms: number): void {
    if (ms < LONG_MS && this.#untilMs.size === 0) return;
    const key = keyOf(method, args);
    if (key === undefined) return;
    this.#untilMs.delete(key);
    if (ms < LONG_MS) return;
    this.#untilMs.set(key, this.#now() + REMEMBERED_MS);
    const [oldest] = this.#untilMs.keys();
    if (oldest !== undefined && this.#untilMs.size > CALLS_MAX) this.#untilMs.delete(oldest);
  }
}

/** Equal for calls that run the same code with the same data; undefined: not to be remembered. */
function keyOf(method: string, args: CallArguments | undefined): string | undefined {
  const data = args?.input ?? args?.data;
  if (args === undefined || (data !== undefined && data.length > DATA_BYTES_MAX)) return undefined;
  return `${method} ${args.from} ${args.to} ${args.value} ${args.gas} ${data && hexDigits(data)}`;
}

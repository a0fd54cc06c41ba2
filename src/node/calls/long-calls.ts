import { hexDigits } from "../../base/primitives/hex.ts";
import type { CallArguments } from "../../evm/execution/call/call-arguments.ts";

/** Duration in a thread of lower priority: longer than a short call may have waited for a processor. */
const LONG_MS = 10;
/** A long call can become short when the state changes, so it is tried again after this time. */
const REMEMBERED_MS = 10_000;
/** At most about 2 KB each. */
const CALLS_MAX = 1_000;
/** Calls with more calldata are tried every time: comparing them would take long. */
const DATA_BYTES_MAX = 512;

/** Remembers calls that took long in another thread, to skip the first try. Programs that poll for a result repeat the same call. */
export class LongCalls {
  readonly #now: () => number;
  /** Expiry of each call, the oldest first. */
  readonly #untilMs = new Map<string, number>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  has(method: string, args: CallArguments | undefined): boolean {
    // The usual case: no lookup needed.
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

/** Equal for calls that run the same code with the same data; undefined: do not remember the call. */
function keyOf(method: string, args: CallArguments | undefined): string | undefined {
  const data = args?.input ?? args?.data;
  if (args === undefined || (data !== undefined && data.length > DATA_BYTES_MAX)) return undefined;
  return `${method} ${args.from} ${args.to} ${args.value} ${args.gas} ${data && hexDigits(data)}`;
}

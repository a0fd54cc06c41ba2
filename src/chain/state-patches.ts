import { patchedState, type StatePatch, statePatch } from "../state/patched-state.ts";
import type { StateChanges, StateReader } from "../state/reader.ts";

type Entry = { readonly changes: StateChanges; readonly patch: StatePatch };

/**
 * What callers of a dev chain set by hand, by the number of the block after which it was set. Reads of that state have it, and it is
 * part of what the next block changes; the block's own state root stays as it is.
 */
export class StatePatches {
  readonly #byNumber = new Map<number, Entry>();

  get size(): number {
    return this.#byNumber.size;
  }

  at(number: number): StateChanges | undefined {
    return this.#byNumber.get(number)?.changes;
  }

  /** `state`, which is the one after block `number`, with what was set by hand. */
  over(number: number, state: StateReader): StateReader {
    const entry = this.#byNumber.get(number);
    return entry === undefined ? state : patchedState(state, entry.patch);
  }

  /** @param changes undefined: none */
  set(number: number, changes: StateChanges | undefined): void {
    if (changes === undefined) this.#byNumber.delete(number);
    else this.#byNumber.set(number, { changes, patch: statePatch(changes) });
  }

  /** The blocks after `number` are gone. */
  dropAfter(number: number): void {
    for (const patched of this.#byNumber.keys()) {
      if (patched > number) this.#byNumber.delete(patched);
    }
  }
}

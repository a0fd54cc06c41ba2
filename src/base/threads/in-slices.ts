import type { MaybePromise } from "./maybe-promise.ts";
import type { SharedSlices } from "./shared-slices.ts";

/** Work that pauses after each step of a few tenths of a millisecond and ends with its result. */
export type Steps<T> = Iterator<unknown, T>;

/** The result of `steps`: at once if one slice is enough, else in slices between which other work runs. */
export function inSlices<T>(steps: Steps<T>, slices: SharedSlices): MaybePromise<T> {
  const turn = slices.enter();
  if (turn !== undefined) return finish(steps, slices, turn);
  const end = advance(steps, slices);
  return end === undefined ? finish(steps, slices, slices.next()) : end.value;
}

/** The result of `steps`, without pauses. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

async function finish<T>(steps: Steps<T>, slices: SharedSlices, first: Promise<unknown>): Promise<T> {
  for (let turn = first; ; turn = slices.next()) {
    await turn;
    const end = advance(steps, slices);
    if (end !== undefined) return end.value;
  }
}

/** undefined: the slice is over before the work is. */
function advance<T>(steps: Steps<T>, slices: SharedSlices): { readonly value: T } | undefined {
  for (;;) {
    const step = steps.next();
    if (step.done) return step;
    if (slices.isOver()) return undefined;
  }
}

/** This many bytes count as one item: reading a block, an account or a transaction. */
const BYTES_PER_ITEM = 8 << 10;
/** Items of a step: a few tenths of a millisecond. */
const ITEMS_PER_STEP = 16;

/** Counts a job's work by items and bytes, since a few items may hold megabytes. */
export class StepWork {
  #items = 0;

  /** Adds work. @returns whether the step is over; then begins the next one */
  add(bytes: number, items = 1): boolean {
    this.#items += items + bytes / BYTES_PER_ITEM;
    if (this.#items < ITEMS_PER_STEP) return false;
    this.#items = 0;
    return true;
  }
}

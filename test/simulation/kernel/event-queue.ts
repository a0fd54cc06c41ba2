import type { SimulatedProcess } from "./process.ts";

/** Something that happens at a moment of virtual time. */
export type QueuedEvent = {
  time: number;
  /** Events of one moment happen in the order in which they were added. */
  order: number;
  readonly owner: SimulatedProcess | undefined;
  readonly work: () => void;
  isCancelled: boolean;
};

/** What is to happen, earliest first: a binary heap. */
export class EventQueue {
  readonly #heap: QueuedEvent[] = [];
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  add(time: number, owner: SimulatedProcess | undefined, work: () => void): QueuedEvent {
    const event: QueuedEvent = { time, order: 0, owner, work, isCancelled: false };
    this.#insert(event);
    return event;
  }

  /** Puts off an event that was taken: it can still be cancelled. */
  defer(event: QueuedEvent, time: number): void {
    event.time = time;
    this.#insert(event);
  }

  #insert(event: QueuedEvent): void {
    event.order = this.#order++;
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent]!, event)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  /** Takes the earliest event that is not later than `time`. */
  next(time: number): QueuedEvent | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || first.time > time) return undefined;
      this.#removeFirst();
      if (!first.isCancelled) return first;
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    const { length } = heap;
    if (length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: QueuedEvent, b: QueuedEvent): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}

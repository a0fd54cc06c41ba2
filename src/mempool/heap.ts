/** A binary heap: the item that `isBefore` puts first is at the top. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[];

  /** Takes time proportional to the number of `items`. */
  constructor(isBefore: (a: T, b: T) => boolean, items: Iterable<T> = []) {
    this.#isBefore = isBefore;
    this.#items = [...items];
    for (let i = (this.#items.length >> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let index = items.push(item) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(item, items[parent]!)) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  pop(): T | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.replaceTop(last);
    return top;
  }

  /** Takes the top out and puts `item` in; there must be a top. */
  replaceTop(item: T): void {
    this.#items[0] = item;
    this.#sink(0);
  }

  #sink(start: number): void {
    const items = this.#items;
    const item = items[start]!;
    let index = start;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#isBefore(items[right]!, items[child]!)) child = right;
      if (!this.#isBefore(items[child]!, item)) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = item;
  }
}

/** More than one run asks for. */
const RESULTS_MAX = 20_000;

/** Results of a pure function by the text of its arguments: the nodes of a network compute the same ones, again at each of their starts. */
export class Memo<T> {
  readonly #results = new Map<string, T>();

  get(text: string, compute: () => T): T {
    const known = this.#results.get(text);
    if (known !== undefined || this.#results.has(text)) return known as T;
    const result = compute();
    if (this.#results.size === RESULTS_MAX) this.#results.clear();
    this.#results.set(text, result);
    return result;
  }
}

/** A distinct text for each value of `bytes`. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

import type { Kv, KvLoad, SortedRows } from "../../../storage/kv.ts";

/** Rows of one transaction: some 10 ms. A longer one, of a code, has its own. */
const BATCH_BYTES = 1 << 20;

/** Writes rows in transactions, where a store has no way of its own to load them. They wait in one buffer: as objects they would burden the garbage collector. */
export class RowBatches implements KvLoad, SortedRows {
  readonly #kv: Kv;
  readonly #onCommit: () => void;
  readonly #bytes = new Uint8Array(BATCH_BYTES);
  /** Where each key and each value ends, in turn. */
  readonly #ends: number[] = [];
  #used = 0;

  /** @param onCommit called after each transaction */
  constructor(kv: Kv, onCommit: () => void) {
    this.#kv = kv;
    this.#onCommit = onCommit;
  }

  run(): SortedRows {
    return this;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const length = key.length + value.length;
    if (this.#used + length > BATCH_BYTES) this.commit();
    if (length > BATCH_BYTES) {
      this.#kv.transaction((writer) => writer.put(key, value));
      return;
    }
    const valueStart = this.#used + key.length;
    this.#bytes.set(key, this.#used);
    this.#bytes.set(value, valueStart);
    this.#used = valueStart + value.length;
    this.#ends.push(valueStart, this.#used);
  }

  commit(): void {
    const [bytes, ends] = [this.#bytes, this.#ends];
    this.#kv.transaction((writer) => {
      let start = 0;
      for (let i = 0; i < ends.length; i += 2) {
        const [keyEnd, end] = [ends[i]!, ends[i + 1]!];
        writer.put(bytes.subarray(start, keyEnd), bytes.subarray(keyEnd, end));
        start = end;
      }
    });
    this.#ends.length = 0;
    this.#used = 0;
    this.#onCommit();
  }
}

import type { JsonPart } from "../codec.ts";
import type { MemoryBudget, MemoryShare } from "../memory-budget.ts";

/** The answer to one call, and how much of it counts against the batch limit. */
export type Answer = {
  readonly parts: readonly JsonPart[];
  readonly size: number;
  /** Of all parts, where it is known. */
  readonly byteLength: number | undefined;
};

/** Smaller additions are not charged at once: most batches never hold as much. */
const CHARGE_BYTES = 64 << 10;

/**
 * The answer to a batch while its calls run. What it holds counts with what clients have not read yet: many batches just below
 * their own limit would fill the memory before any of them is sent.
 */
export class BatchAnswer {
  readonly #share: MemoryShare | undefined;
  readonly #parts: JsonPart[] = [];
  #size = 0;
  #charged = 0;
  #isEvicted = false;

  /** @param output of all connections; absent: not limited */
  constructor(output: MemoryBudget | undefined) {
    this.#share = output?.open(() => {
      this.#isEvicted = true;
      this.#parts.length = 0;
    });
  }

  /** `result` and `error` bytes. */
  get size(): number {
    return this.#size;
  }

  /** The budget was exceeded, and no batch held more. */
  get isEvicted(): boolean {
    return this.#isEvicted;
  }

  add({ parts, size }: Answer): void {
    if (this.#isEvicted) return;
    append(this.#parts, this.#parts.length === 0 ? "[" : ",");
    for (const part of parts) append(this.#parts, part);
    this.#size += size;
    if (this.#size - this.#charged < CHARGE_BYTES) return;
    this.#charged = this.#size;
    this.#share?.set(this.#size);
  }

  /** The whole text; undefined: there is nothing to answer. Afterwards the connection is charged for it. */
  end(): readonly JsonPart[] | undefined {
    this.#share?.close();
    if (this.#parts.length === 0) return undefined;
    append(this.#parts, "]");
    return this.#parts;
  }
}

/** Joins neighbouring texts: each piece is a write. */
function append(parts: JsonPart[], part: JsonPart): void {
  const last = parts[parts.length - 1];
  if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
  else parts.push(part);
}

import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { JsonPart } from "../codec.ts";
import type { MemoryBudget, MemoryShare } from "../memory-budget.ts";
import type { Answer } from "./answer.ts";
import { CHARS_PER_STEP } from "./text-in-steps.ts";

/** Smaller additions are not charged at once: most batches never hold as much. */
const CHARGE_BYTES = 64 << 10;

/**
 * The answer to a batch while its calls run. What it holds counts with what clients have not read yet: many batches just below
 * their own limit would fill the memory before any of them is sent.
 */
export class BatchAnswer {
  readonly #share: MemoryShare | undefined;
  readonly #parts: JsonPart[] = [];
  /** What comes after `#parts`: each part is a write. */
  #text = "";
  #size = 0;
  #byteLength: number | undefined = 0;
  #charged = 0;
  #isEvicted = false;

  /** @param output of all connections; absent: not limited */
  constructor(output: MemoryBudget | undefined) {
    this.#share = output?.open(() => {
      this.#isEvicted = true;
      this.#parts.length = 0;
      this.#text = "";
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

  add({ text, pieces, size, byteLength }: Answer): void {
    if (this.#isEvicted) return;
    const isFirst = this.#text === "" && this.#parts.length === 0;
    this.#text += isFirst ? `[${text}` : `,${text}`;
    if (pieces !== undefined) for (const piece of pieces) this.#append(piece);
    if (byteLength === undefined) this.#byteLength = undefined;
    else if (this.#byteLength !== undefined) this.#byteLength += byteLength + 1;
    this.#size += size;
    if (this.#text.length > CHARS_PER_STEP) this.#append(EMPTY_BYTES);
    if (this.#size - this.#charged < CHARGE_BYTES) return;
    this.#charged = this.#size;
    this.#share?.set(this.#size);
  }

  #append(part: JsonPart): void {
    if (typeof part === "string") this.#text += part;
    else {
      // Encoded now: the text of a whole batch at once would hold the thread.
      if (this.#text !== "") this.#parts.push(Buffer.from(this.#text));
      if (part.length > 0) this.#parts.push(part);
      this.#text = "";
    }
  }

  /** The whole text; undefined: there is nothing to answer. Afterwards the connection is charged for it. */
  end(): { readonly parts: readonly JsonPart[]; readonly byteLength: number | undefined } | undefined {
    this.#share?.close();
    if (this.#text === "" && this.#parts.length === 0) return undefined;
    this.#parts.push(`${this.#text}]`);
    return { parts: this.#parts, byteLength: this.#byteLength === undefined ? undefined : this.#byteLength + 1 };
  }
}

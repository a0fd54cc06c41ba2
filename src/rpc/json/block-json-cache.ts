import type { ExecutedBlock } from "../../types/block.ts";
import { blockText, headerText } from "./block-json.ts";
import { receiptsText } from "./receipt-json.ts";

/** The forms in which a block is served whole. */
export type BlockForm = "header" | "hashes" | "full" | "receipts";

/** JSON of blocks as bytes, made once a block and form: a block never changes, and everyone asks for the newest ones. */
export class BlockJsonCache {
  readonly #bytesMax: number;
  readonly #style: { readonly nullPowFields: boolean };
  /** In order of use. */
  readonly #entries = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(options: { readonly bytesMax: number; readonly nullPowFields: boolean }) {
    this.#bytesMax = options.bytesMax;
    this.#style = { nullPowFields: options.nullPowFields };
  }

  /** The bytes of a sealed block; shared, not to be written to. */
  get(executed: ExecutedBlock, form: BlockForm): Uint8Array {
    const key = executed.block.hash + form;
    const known = this.#entries.get(key);
    if (known) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const bytes = Buffer.from(this.#text(executed, form), "latin1");
    this.#add(key, bytes);
    return bytes;
  }

  /** JSON text of a block that is not sealed: never kept. */
  pendingText(executed: ExecutedBlock, isFull: boolean): string {
    return blockText(executed, isFull, { ...this.#style, isPending: true });
  }

  /** As above, the header alone. */
  pendingHeaderText(executed: ExecutedBlock): string {
    return headerText(executed, { ...this.#style, isPending: true });
  }

  get style(): { readonly nullPowFields: boolean } {
    return this.#style;
  }

  #text(executed: ExecutedBlock, form: BlockForm): string {
    if (form === "header") return headerText(executed, this.#style);
    if (form === "receipts") return receiptsText(executed);
    return blockText(executed, form === "full", this.#style);
  }

  #add(key: string, bytes: Uint8Array): void {
    this.#entries.set(key, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#entries.delete(oldest);
      this.#bytes -= length;
    }
  }
}

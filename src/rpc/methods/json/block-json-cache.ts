import type { ExecutedBlock } from "../../../types/block.ts";
import type { SealedHeader } from "../../ports/chain-view.ts";
import { blockText, headerText } from "./block-json.ts";
import { receiptsText } from "./receipt-json.ts";

/** The forms in which a whole block is served. */
export type BlockForm = "header" | "hashes" | "full" | "receipts";

/** JSON of blocks as bytes, encoded once per block and form: a block never changes, and most callers ask for the newest ones. */
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
    if (form === "header") return this.header(executed.block);
    const key = executed.block.hash + form;
    return this.#known(key) ?? this.#add(key, this.#text(executed, form));
  }

  /** As `get` with the form `header`. */
  header(sealed: SealedHeader): Uint8Array {
    const key = `${sealed.hash}header`;
    return this.#known(key) ?? this.#add(key, headerText(sealed, this.#style));
  }

  /** JSON text of a block that is not sealed: never cached. */
  pendingText(executed: ExecutedBlock, isFull: boolean): string {
    return blockText(executed, isFull, { ...this.#style, isPending: true });
  }

  /** As above, the header alone. */
  pendingHeaderText(sealed: SealedHeader): string {
    return headerText(sealed, { ...this.#style, isPending: true });
  }

  get style(): { readonly nullPowFields: boolean } {
    return this.#style;
  }

  #known(key: string): Uint8Array | undefined {
    const known = this.#entries.get(key);
    if (known === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, known);
    return known;
  }

  #text(executed: ExecutedBlock, form: Exclude<BlockForm, "header">): string {
    if (form === "receipts") return receiptsText(executed);
    return blockText(executed, form === "full", this.#style);
  }

  #add(key: string, text: string): Uint8Array {
    const bytes = Buffer.from(text, "latin1");
    this.#entries.set(key, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#entries.delete(oldest);
      this.#bytes -= length;
    }
    return bytes;
  }
}

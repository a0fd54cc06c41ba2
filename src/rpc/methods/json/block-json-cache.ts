import { allAtOnce, inSlices, type Steps } from "../../../base/threads/in-slices.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { SealedHeader } from "../../ports/chain-view.ts";
import { blockTextInSteps, headerText } from "./block-json.ts";
import { receiptsTextInSteps } from "./receipt-json.ts";

/** The forms in which a whole block is served. */
export type BlockForm = "header" | "hashes" | "full" | "receipts";

/** JSON of blocks as bytes, encoded once per block and form: a block never changes, and most callers ask for the newest ones. */
export class BlockJsonCache {
  readonly #bytesMax: number;
  readonly #style: { readonly nullPowFields: boolean };
  readonly #slices: SharedSlices;
  /** In order of use. */
  readonly #entries = new Map<string, Uint8Array>();
  #bytes = 0;

  /** @param slices of everything that writes whole blocks or pools in this process */
  constructor(options: { readonly bytesMax: number; readonly nullPowFields: boolean }, slices: SharedSlices) {
    this.#bytesMax = options.bytesMax;
    this.#style = { nullPowFields: options.nullPowFields };
    this.#slices = slices;
  }

  /** The bytes of a sealed block, written in slices where it is large; shared, not to be written to. */
  get(executed: ExecutedBlock, form: BlockForm): MaybePromise<Uint8Array> {
    if (form === "header") return this.header(executed.block);
    const key = executed.block.hash + form;
    const known = this.#known(key);
    if (known !== undefined) return known;
    return andThen(inSlices(this.#bytesInSteps(executed, form), this.#slices), (bytes) => this.#add(key, bytes));
  }

  /** As `get`, in one piece: for the newest block, which many wait for. */
  getAtOnce(executed: ExecutedBlock, form: BlockForm): Uint8Array {
    if (form === "header") return this.header(executed.block);
    const key = executed.block.hash + form;
    return this.#known(key) ?? this.#add(key, allAtOnce(this.#bytesInSteps(executed, form)));
  }

  /** As `get` with the form `header`. */
  header(sealed: SealedHeader): Uint8Array {
    const key = `${sealed.hash}header`;
    return this.#known(key) ?? this.#add(key, latin1(headerText(sealed, this.#style)));
  }

  /** JSON text of a block that is not sealed: never cached. */
  pendingText(executed: ExecutedBlock, isFull: boolean): MaybePromise<string> {
    return inSlices(blockTextInSteps(executed, isFull, { ...this.#style, isPending: true }), this.#slices);
  }

  /** Likewise of its receipts. */
  pendingReceipts(executed: ExecutedBlock): MaybePromise<string> {
    return inSlices(receiptsTextInSteps(executed), this.#slices);
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

  *#bytesInSteps(executed: ExecutedBlock, form: Exclude<BlockForm, "header">): Generator<unknown, Uint8Array> {
    const steps = this.#textInSteps(executed, form);
    for (let step = steps.next(); ; step = steps.next()) {
      yield;
      if (step.done) return latin1(step.value);
    }
  }

  #textInSteps(executed: ExecutedBlock, form: Exclude<BlockForm, "header">): Steps<string> {
    if (form === "receipts") return receiptsTextInSteps(executed);
    return blockTextInSteps(executed, form === "full", this.#style);
  }

  #add(key: string, bytes: Uint8Array): Uint8Array {
    // Another caller may have written it in the meantime.
    this.#remove(key);
    this.#entries.set(key, bytes);
    this.#bytes += bytes.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest);
    }
    return bytes;
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.length ?? 0;
    this.#entries.delete(key);
  }
}

function latin1(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

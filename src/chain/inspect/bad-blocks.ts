import type { Hash } from "../../primitives/hash.ts";
import type { Block } from "../../types/block.ts";
import { blockSize } from "../../types/block-codec.ts";

/** Blocks kept, the newest. */
const COUNT_MAX = 100;
/** Bytes of RLP of all of them together: a hostile file could hold a hundred blocks of megabytes. */
const BYTES_MAX = 32 << 20;

/** Blocks that were rejected because they break a rule, as long as the process runs. */
export class BadBlocks {
  readonly #blocks = new Map<Hash, { readonly block: Block; readonly bytes: number }>();
  #bytes = 0;

  add(block: Block): void {
    if (this.#blocks.has(block.hash)) return;
    const bytes = blockSize(block);
    if (bytes > BYTES_MAX) return;
    this.#blocks.set(block.hash, { block, bytes });
    this.#bytes += bytes;
    for (const [hash, oldest] of this.#blocks) {
      if (this.#blocks.size <= COUNT_MAX && this.#bytes <= BYTES_MAX) break;
      this.#blocks.delete(hash);
      this.#bytes -= oldest.bytes;
    }
  }

  get(hash: Hash): Block | undefined {
    return this.#blocks.get(hash)?.block;
  }

  /** The highest first, as geth has them. */
  all(): readonly Block[] {
    const blocks = Array.from(this.#blocks.values(), ({ block }) => block);
    return blocks.sort((a, b) => b.header.number - a.header.number);
  }
}

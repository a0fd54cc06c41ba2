import type { Hash } from "../../base/primitives/hash.ts";
import type { Block } from "../../base/types/block.ts";
import { blockSize } from "../../base/types/block-codec.ts";

/** The newest rejected blocks, stored for debug_getBadBlocks. */
export const BAD_BLOCK_LIMITS = {
  /** geth stores 10, but one import file may contain many blocks that fail for the same reason. */
  countMax: 100,
  /** Total RLP size: a hundred blocks of 300 KB. The blocks of a hostile file can be megabytes each. */
  bytesMax: 32 * 2 ** 20,
} as const;

export type BadBlocksLimits = { readonly [Name in keyof typeof BAD_BLOCK_LIMITS]: number };

/** Blocks that this process rejected because they break a rule. */
export class BadBlocks {
  readonly #limits: BadBlocksLimits;
  readonly #blocks = new Map<Hash, { readonly block: Block; readonly bytes: number }>();
  #bytes = 0;

  constructor(limits: BadBlocksLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#blocks.size;
  }

  add(block: Block): void {
    if (this.#blocks.has(block.hash)) return;
    const bytes = blockSize(block);
    const { countMax, bytesMax } = this.#limits;
    if (bytes > bytesMax) return;
    this.#blocks.set(block.hash, { block, bytes });
    this.#bytes += bytes;
    for (const [hash, oldest] of this.#blocks) {
      if (this.#blocks.size <= countMax && this.#bytes <= bytesMax) break;
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

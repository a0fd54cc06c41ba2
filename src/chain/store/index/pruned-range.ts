import { ByteReader, ByteWriter } from "../../../store/storage/byte-io.ts";
import type { KvReader, KvWriter } from "../../../store/storage/kv.ts";
import { META, TABLE, tableKey } from "../../../store/storage/schema.ts";

/** What is pruned: blocks with receipts and logs, values of accounts and slots, versions of trie nodes. */
export type PrunedKind = "blocks" | "states" | "proofs";

const ROWS = {
  blocks: META.prunedBlocks,
  states: META.prunedStates,
  proofs: META.prunedProofs,
} as const;

/**
 * How far one kind is pruned. `base` moves first, and rows that only older blocks need are removed after that, so that a stop in the middle
 * leaves more rows than are needed and never fewer.
 *
 *     row    base ‖ next, varints
 */
class PrunedRange {
  readonly #key: Uint8Array;
  /** The oldest block that can be read. */
  #base: number;
  /** The first block whose rows are still to be removed. */
  #next: number;

  constructor(kind: PrunedKind, kv: KvReader) {
    this.#key = tableKey(TABLE.meta, Buffer.from(ROWS[kind], "latin1"));
    this.#base = 0;
    this.#next = 0;
    this.refresh(kv);
  }

  get base(): number {
    return this.#base;
  }

  get next(): number {
    return this.#next;
  }

  refresh(kv: KvReader): void {
    const row = kv.get(this.#key);
    if (row === undefined) return;
    const reader = new ByteReader(row);
    this.#base = reader.varint();
    this.#next = reader.varint();
  }

  write(writer: KvWriter, base: number, next: number): void {
    const row = new ByteWriter(16);
    row.varint(base);
    row.varint(next);
    writer.put(this.#key, row.finish());
    this.#base = base;
    this.#next = next;
  }
}

/** The pruned ranges of an index. */
export type PrunedRanges = Readonly<Record<PrunedKind, PrunedRange>>;

export function readPrunedRanges(kv: KvReader): PrunedRanges {
  return {
    blocks: new PrunedRange("blocks", kv),
    states: new PrunedRange("states", kv),
    proofs: new PrunedRange("proofs", kv),
  };
}

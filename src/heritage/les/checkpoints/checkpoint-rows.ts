import type { Hash } from "../../../base/primitives/hash.ts";
import { ByteReader, ByteWriter } from "../../../store/storage/byte-io.ts";
import type { Kv, KvReader, KvWriter } from "../../../store/storage/kv.ts";
import { numberFromKey, numberKey, tableKey } from "../../../store/storage/schema.ts";
import { ChunkedNodeCache } from "../../../store/trie/node-cache.ts";
import type { TrieNode } from "../../../store/trie/node-store.ts";
import { createTrie, type Trie } from "../../../store/trie/trie.ts";
import type { Checkpoint } from "./checkpoint.ts";

/**
 * The on-disk format of the store of checkpoints, which can be computed again from the blocks. The first byte names the table.
 * Numbers in keys are six bytes big-endian.
 */
const TABLE = {
  /** → section size, bloom section size; rows of other sizes are of no use */
  layout: 0x01,
  /** → `Progress` of the section that is not complete */
  progress: 0x02,
  /** section → its checkpoint and the total difficulty of its last block */
  section: 0x03,
  /** path ‖ 0x10 ‖ first 16 bytes of the hash → RLP of a node of the canonical hash trie */
  hashTrieNode: 0x04,
  /** the same of the bloom trie */
  bloomTrieNode: 0x05,
  /** bit u16 ‖ bloom section → vector; of the last section, absent where no block has the bit */
  bloomVector: 0x06,
} as const;

/** Up to where a section is indexed. Always at the border of a bloom section. */
export type Progress = {
  /** The first block that is not indexed. */
  readonly next: number;
  /** Hash of the block before it. */
  readonly hash: Hash;
  readonly totalDifficulty: bigint;
  /** Root of the canonical hash trie with all blocks before `next`. */
  readonly chtRoot: Hash;
};

export type SectionRow = Checkpoint & { readonly totalDifficulty: bigint };

export type SectionLayout = {
  /** Blocks; a multiple of `bloomSectionSize`. */
  readonly sectionSize: number;
  /** Blocks; a multiple of 8. */
  readonly bloomSectionSize: number;
};

/** Nodes of the two tries in memory: the upper levels, and nodes that the last blocks touched. */
const CACHE_BYTES = 1 << 20;
const END_OF_PATH = Uint8Array.of(0x10);
const HASH_PART_LENGTH = 16;

/** True when `kv` holds sections of this layout, or nothing. */
export function hasLayout(kv: KvReader, layout: SectionLayout): boolean {
  const row = kv.get(tableKey(TABLE.layout));
  return row === undefined || Buffer.compare(row, layoutBytes(layout)) === 0;
}

export function writeLayout(writer: KvWriter, layout: SectionLayout): void {
  writer.put(tableKey(TABLE.layout), layoutBytes(layout));
}

function layoutBytes({ sectionSize, bloomSectionSize }: SectionLayout): Uint8Array {
  const writer = new ByteWriter(16);
  writer.varint(sectionSize);
  writer.varint(bloomSectionSize);
  return writer.finish();
}

/** Number of complete sections. */
export function countSections(kv: KvReader): number {
  const range = { from: tableKey(TABLE.section), to: tableKey(TABLE.section + 1) };
  for (const [, row] of kv.range({ ...range, reverse: true, limit: 1 })) {
    return decodeSection(row).sectionIndex + 1;
  }
  return 0;
}

export function readSection(kv: KvReader, index: number): SectionRow | undefined {
  const row = kv.get(sectionKey(index));
  return row && decodeSection(row);
}

export function writeSection(writer: KvWriter, section: SectionRow): void {
  const row = new ByteWriter(128);
  row.varint(section.sectionIndex);
  row.hex(section.sectionHead);
  row.hex(section.chtRoot);
  row.hex(section.bloomRoot);
  row.bigint(section.totalDifficulty);
  writer.put(sectionKey(section.sectionIndex), row.finish());
  writer.remove(tableKey(TABLE.progress));
}

/** Removes section `index` and the progress of later ones. */
export function removeSection(writer: KvWriter, index: number): void {
  writer.remove(sectionKey(index));
  writer.remove(tableKey(TABLE.progress));
}

function decodeSection(bytes: Uint8Array): SectionRow {
  const row = new ByteReader(bytes);
  return {
    sectionIndex: row.varint(),
    sectionHead: row.hex(32) as Hash,
    chtRoot: row.hex(32) as Hash,
    bloomRoot: row.hex(32) as Hash,
    totalDifficulty: row.bigint(),
  };
}

function sectionKey(index: number): Uint8Array {
  return tableKey(TABLE.section, numberKey(index));
}

export function readProgress(kv: KvReader): Progress | undefined {
  const bytes = kv.get(tableKey(TABLE.progress));
  if (bytes === undefined) return undefined;
  const row = new ByteReader(bytes);
  return {
    next: row.varint(),
    hash: row.hex(32) as Hash,
    chtRoot: row.hex(32) as Hash,
    totalDifficulty: row.bigint(),
  };
}

export function writeProgress(writer: KvWriter, progress: Progress): void {
  const row = new ByteWriter(128);
  row.varint(progress.next);
  row.hex(progress.hash);
  row.hex(progress.chtRoot);
  row.bigint(progress.totalDifficulty);
  writer.put(tableKey(TABLE.progress), row.finish());
}

export function removeProgress(writer: KvWriter): void {
  writer.remove(tableKey(TABLE.progress));
}

export function writeVector(writer: KvWriter, bit: number, bloomSection: number, vector: Uint8Array): void {
  writer.put(tableKey(TABLE.bloomVector, bitKey(bit), numberKey(bloomSection)), vector);
}

/** The vectors of the bits from `first` to before `last`, sorted by bit and bloom section. */
export function* readVectors(
  kv: KvReader,
  first: number,
  last: number,
): Generator<readonly [bit: number, bloomSection: number, vector: Uint8Array]> {
  const from = tableKey(TABLE.bloomVector, bitKey(first));
  const to = tableKey(TABLE.bloomVector, bitKey(last));
  for (const [key, vector] of kv.range({ from, to })) {
    yield [(key[1]! << 8) | key[2]!, numberFromKey(key, 3), vector];
  }
}

/** Removes at most `limit` vectors; true while there may be more. */
export function removeVectors(writer: KvWriter, limit: number): boolean {
  const range = { from: tableKey(TABLE.bloomVector), to: tableKey(TABLE.bloomVector + 1), limit };
  const keys = Array.from(writer.range(range), ([key]) => key);
  for (const key of keys) writer.remove(key);
  return keys.length === limit;
}

/** Big-endian. */
export function bitKey(bit: number): Uint8Array {
  return Uint8Array.of(bit >> 8, bit & 0xff);
}

/** A trie of the store, and how its new nodes are written. */
export type StoredTrie = {
  readonly trie: Trie;
  write(writer: KvWriter, nodes: Iterable<TrieNode>): void;
};

export const openHashTrie = (kv: Kv): StoredTrie => openStoredTrie(kv, TABLE.hashTrieNode);
export const openBloomTrie = (kv: Kv): StoredTrie => openStoredTrie(kv, TABLE.bloomTrieNode);

function openStoredTrie(kv: Kv, table: number): StoredTrie {
  const keyOf = (path: Uint8Array, hash: Uint8Array) =>
    tableKey(table, path, END_OF_PATH, hash.subarray(0, HASH_PART_LENGTH));
  const nodes = {
    node: (_owner: Uint8Array, path: Uint8Array, hash: Uint8Array) => kv.get(keyOf(path, hash)),
  };
  return {
    trie: createTrie(nodes, new ChunkedNodeCache(CACHE_BYTES), new Uint8Array(0)),
    write(writer, created) {
      for (const { path, hash, rlp } of created) writer.put(keyOf(path, hash), rlp);
    },
  };
}

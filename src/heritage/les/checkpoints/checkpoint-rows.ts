import type { Hash } from "../../../base/primitives/hash.ts";
import { ByteReader, ByteWriter } from "../../../store/storage/byte-io.ts";
import type { Kv, KvReader, KvWriter } from "../../../store/storage/kv.ts";
import { numberKey, tableKey } from "../../../store/storage/schema.ts";
import { ChunkedNodeCache } from "../../../store/trie/node-cache.ts";
import type { TrieNode } from "../../../store/trie/node-store.ts";
import { createTrie, type Trie } from "../../../store/trie/trie.ts";
import type { Checkpoint } from "./checkpoint.ts";

/**
 * The on-disk format of checkpoints, which can be recomputed from the blocks. The first byte names the table. Numbers in keys are six bytes
 * big-endian.
 */
const TABLE = {
  /** → section size; rows of another size are useless. Earlier versions append a second number. */
  layout: 0x01,
  // 0x02 and 0x06 held an unfinished section in earlier versions.
  /** section → its checkpoint and the total difficulty of its last block */
  section: 0x03,
  /** path ‖ 0x10 ‖ first 16 bytes of the hash → RLP of a node of the canonical hash trie */
  hashTrieNode: 0x04,
  /** the same for the bloom trie */
  bloomTrieNode: 0x05,
} as const;

export type SectionRow = Checkpoint & { readonly totalDifficulty: bigint };

/** Cache of trie nodes: the upper levels, and nodes that the last blocks touched. */
const CACHE_BYTES = 1 << 20;
const END_OF_PATH = Uint8Array.of(0x10);
const HASH_PART_LENGTH = 16;

/** Whether `kv` holds sections of this size, or nothing. */
export function hasSectionSize(kv: KvReader, sectionSize: number): boolean {
  const row = kv.get(tableKey(TABLE.layout));
  return row === undefined || new ByteReader(row).varint() === sectionSize;
}

export function writeSectionSize(writer: KvWriter, sectionSize: number): void {
  const row = new ByteWriter(8);
  row.varint(sectionSize);
  writer.put(tableKey(TABLE.layout), row.finish());
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
}

export function removeSection(writer: KvWriter, index: number): void {
  writer.remove(sectionKey(index));
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

/** A trie of the store, and how to write its new nodes. */
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

import { type Hash, hashToBytes } from "../../../primitives/hash.ts";
import { ByteReader, ByteWriter } from "../../../storage/byte-io.ts";
import type { KvReader, KvWriter } from "../../../storage/kv.ts";
import { META, numberKey, TABLE, tableKey } from "../../../storage/schema.ts";

/** So much of a state root names it. */
const STATE_ROOT_LENGTH = 16;

/** The last block whose rows are in the index. */
export type Applied = {
  readonly number: number;
  readonly hash: Hash;
  /** log position after its record */
  readonly end: number;
};

/** What `kv` says about the last block in its index. */
export function readApplied(kv: KvReader): Applied | undefined {
  const row = kv.get(metaKey(META.applied));
  if (row === undefined) return undefined;
  const reader = new ByteReader(row);
  return { number: reader.varint(), hash: reader.hex(32) as Hash, end: reader.varint() };
}

export function writeApplied(writer: KvWriter, { number, hash, end }: Applied): void {
  const row = new ByteWriter(64);
  row.varint(number);
  row.hex(hash);
  row.varint(end);
  writer.put(metaKey(META.applied), row.finish());
}

/** Key of the row with the position of block `number`. */
export function positionKey(number: number): Uint8Array {
  return tableKey(TABLE.position, numberKey(number));
}

export function codeKey(codeHash: Hash): Uint8Array {
  return tableKey(TABLE.code, hashToBytes(codeHash));
}

export function stateRootKey(root: Hash): Uint8Array {
  return tableKey(TABLE.stateRoot, hashToBytes(root).subarray(0, STATE_ROOT_LENGTH));
}

export function metaKey(name: string): Uint8Array {
  return tableKey(TABLE.meta, Buffer.from(name, "latin1"));
}

export function varints(...values: readonly number[]): Uint8Array {
  const writer = new ByteWriter(16);
  for (const value of values) writer.varint(value);
  return writer.finish();
}

export function readVarint(row: Uint8Array | undefined): number | undefined {
  return row === undefined ? undefined : new ByteReader(row).varint();
}

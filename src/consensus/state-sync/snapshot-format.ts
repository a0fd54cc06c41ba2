import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflateRaw, inflateRawSync } from "node:zlib";
import { concatBytes, equalBytes } from "../../base/primitives/bytes.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { ByteReader, ByteWriter, MalformedBytesError } from "../../store/storage/byte-io.ts";
import type { Snapshot } from "../application.ts";

/**
 * Version of the snapshot format, which peers compare. Chunk 0 is the block's record without changes (`chain/records`); each further chunk is a
 * part of the complete state, in the form of a record's changes:
 *
 *     chunk 0   raw deflate of the record
 *     chunk     length of the packed part u32 little-endian ‖ raw deflate of the part ‖ proof
 *     proof     (length ‖ RLP of a trie node)*, as `OrderedState.assertBegins` needs it; the last chunk may have none
 *
 * Accounts and slots are in the order of their hashes, and a code is in the part of the first account that has it. An account whose storage does
 * not fit into one part spans several consecutive ones. The metadata is the concatenated SHA-256 of each chunk, and the hash is keccak256 of the
 * metadata. The version changes with the form of records or parts; parts of format 2 were in the order of addresses and had no proofs.
 */
export const SNAPSHOT_FORMAT = 3;

/** Uncompressed bytes of state in a chunk: tens of megabytes of objects for the node that decodes it. */
export const CHUNK_BYTES = 2 << 20;

/** A block has at most 8 MiB (EIP-7934) and its receipts as much again in logs; a larger chunk is an attack on memory. */
const CHUNK_BYTES_MAX = 64 << 20;

/** As CometBFT's `max_snapshot_chunks`. */
const CHUNKS_MAX = 100_000;

const HASH_BYTES = 32;
const LENGTH_BYTES = 4;

/** Fastest level: a snapshot is written by a node that makes blocks. */
const LEVEL = 1;

const deflate = promisify(deflateRaw);

/** Chunk 0. */
export async function packBlock(record: Uint8Array): Promise<Uint8Array> {
  return deflate(record, { level: LEVEL });
}

/** @throws zlib's errors for damaged or too large content; MalformedBytesError if bytes follow the compressed ones */
export function unpackBlock(chunk: Uint8Array): Uint8Array {
  const { buffer, engine } = inflateRawSync(chunk, {
    maxOutputLength: CHUNK_BYTES_MAX,
    info: true,
  }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
  if (engine.bytesWritten !== chunk.length) {
    throw new MalformedBytesError("a chunk has bytes after its content");
  }
  return buffer;
}

/** The bytes of a chunk before its proof. */
export async function packPart(part: Uint8Array): Promise<Uint8Array> {
  const packed = await deflate(part, { level: LEVEL });
  const length = new ByteWriter(LENGTH_BYTES);
  length.u32(packed.length);
  return concatBytes(length.finish(), packed);
}

export function packProof(nodes: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter(4096);
  for (const node of nodes) writer.block(node);
  return writer.finish();
}

/** @throws what `unpackBlock` throws */
export function unpackPart(chunk: Uint8Array): { readonly part: Uint8Array; readonly proof: readonly Uint8Array[] } {
  const reader = new ByteReader(chunk);
  const part = unpackBlock(reader.bytes(reader.u32()));
  const proof: Uint8Array[] = [];
  while (!reader.atEnd) proof.push(reader.block());
  return { part, proof };
}

/** Incremental SHA-256 of a chunk. */
export function createChunkHash() {
  return createHash("sha256");
}

export function hashOfChunk(chunk: Uint8Array): Uint8Array {
  return createChunkHash().update(chunk).digest();
}

/** @param hashes of each chunk */
export function describeSnapshot(height: number, hashes: readonly Uint8Array[]): Snapshot {
  const metadata = concatBytes(...hashes);
  return {
    height,
    format: SNAPSHOT_FORMAT,
    chunks: hashes.length,
    hash: keccak256(metadata),
    metadata,
  };
}

/** Whether hash, metadata and number of chunks are consistent. */
export function isConsistent({ chunks, hash, metadata }: Snapshot): boolean {
  return (
    chunks > 0 &&
    chunks <= CHUNKS_MAX &&
    metadata.length === chunks * HASH_BYTES &&
    equalBytes(keccak256(metadata), hash)
  );
}

/** Whether `chunk` is the one at `index`. */
export function isChunkOf({ metadata }: Snapshot, index: number, chunk: Uint8Array): boolean {
  const expected = metadata.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
  return equalBytes(hashOfChunk(chunk), expected);
}

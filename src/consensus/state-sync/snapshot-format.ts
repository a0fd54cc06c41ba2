import { promisify } from "node:util";
import { deflateRaw, inflateRawSync } from "node:zlib";
import { concatBytes, equalBytes } from "../../primitives/bytes.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { MalformedBytesError } from "../../storage/byte-io.ts";
import type { Snapshot } from "../application.ts";

/**
 * The form of snapshots, which peers compare: chunk 0 is the block's record without changes (`chain/records`), each further chunk a part of
 * all of its state, as the changes of a record; every chunk is compressed with raw deflate. The metadata is keccak256 of each chunk, one
 * after the other, the hash keccak256 of the metadata. Raised when the form of records or parts changes; parts of format 1 were in no order.
 */
export const SNAPSHOT_FORMAT = 2;

/** Bytes of state in a chunk before compression: CometBFT sends replies of at most 16 MiB, and asks several peers for chunks at a time. */
export const CHUNK_BYTES = 4 << 20;

/** A block has at most 8 MiB (EIP-7934) and its receipts at most as much again in logs; a larger chunk is an attack on memory. */
const CHUNK_BYTES_MAX = 64 << 20;

/** As CometBFT's `max_snapshot_chunks`. */
const CHUNKS_MAX = 100_000;

const HASH_BYTES = 32;

/** Fastest level: a snapshot is written by a node that makes blocks. */
const LEVEL = 1;

const deflate = promisify(deflateRaw);

export async function packChunk(content: Uint8Array): Promise<Uint8Array> {
  return deflate(content, { level: LEVEL });
}

/** @throws what zlib throws for damaged or too large content; MalformedBytesError where bytes follow the compressed ones */
export function unpackChunk(chunk: Uint8Array): Uint8Array {
  const { buffer, engine } = inflateRawSync(chunk, {
    maxOutputLength: CHUNK_BYTES_MAX,
    info: true,
  }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
  if (engine.bytesWritten !== chunk.length) {
    throw new MalformedBytesError("a chunk has bytes after its content");
  }
  return buffer;
}

/** @param hashes keccak256 of each chunk */
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

/** Whether hash, metadata and number of chunks agree. */
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
  return equalBytes(keccak256(chunk), expected);
}

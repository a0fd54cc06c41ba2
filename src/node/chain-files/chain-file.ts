import { createReadStream, statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { NodeError } from "../../errors.ts";
import { concatBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { decodeRlp, encodeRlp } from "../../primitives/rlp.ts";
import type { Block } from "../../types/block.ts";
import { decodeBlockAt, encodeBlock } from "../../types/block-codec.ts";

/**
 * A chain file: concatenated RLP of blocks in ascending order, the format of `geth export` and `geth import`. A block that carries a vote
 * about validators has its consensus data before it, as an RLP string: its state cannot be computed without.
 * Gzip is detected by the first two bytes when read, and chosen by the ending `.gz` when written.
 */

/** The file does not hold a block where one must start. */
export class InvalidChainFileError extends NodeError {
  readonly code = "INVALID_CHAIN_FILE";
}

/** A longer item is not a block: EIP-7934 allows 8 MiB, the rest is room for chains without it. */
const BLOCK_BYTES_MAX = 64 << 20;

const READ_BYTES = 1 << 20;

/** A block from a chain file. */
export type FileBlock = {
  readonly block: Block;
  /** Empty where the file has none. */
  readonly consensusData: Uint8Array;
  /** Bytes of the file read so far, as stored, for showing progress. */
  readonly bytesRead: number;
};

/**
 * The blocks of the file at `path`, in order; holds one block and a little more in memory.
 * @throws InvalidChainFileError, and what decoding a block throws
 */
export async function* readChainFile(path: string): AsyncGenerator<FileBlock> {
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  const source = (await isGzipped(path)) ? file.pipe(createGunzip()) : file;
  file.on("error", (error) => source.destroy(error));
  try {
    yield* blocksIn(source, path, () => file.bytesRead);
  } finally {
    // A stream that is piped into another stays open when that one is left.
    file.destroy();
  }
}

async function* blocksIn(
  source: AsyncIterable<unknown>,
  path: string,
  bytesRead: () => number,
): AsyncGenerator<FileBlock> {
  let pending: Buffer = Buffer.alloc(0);
  let consensusData: Uint8Array = EMPTY_BYTES;
  let ordinal = 0;
  for await (const chunk of source) {
    pending = pending.length === 0 ? (chunk as Buffer) : Buffer.concat([pending, chunk as Buffer]);
    let offset = 0;
    for (let end = itemEnd(pending, offset); end <= pending.length; ) {
      const item = pending.subarray(offset, end);
      if (isString(item)) consensusData = contentOf(item);
      else {
        yield { block: decode(item, ordinal), consensusData, bytesRead: bytesRead() };
        consensusData = EMPTY_BYTES;
        ordinal++;
      }
      offset = end;
      end = itemEnd(pending, offset);
    }
    // Copied: blocks are views of the chunk, whose memory must not be retained for the rest.
    pending = Buffer.from(pending.subarray(offset));
  }
  if (pending.length > 0) {
    throw new InvalidChainFileError(`file ends inside block ${ordinal} of it`, { path, ordinal });
  }
}

/** What a chain file holds of a block. @param consensusData empty: none */
export function encodeFileBlock(block: Block, consensusData: Uint8Array): Uint8Array {
  const encoded = encodeBlock(block);
  return consensusData.length === 0 ? encoded : concatBytes(encodeRlp(consensusData), encoded);
}

/** Bytes of the file at `path`. */
export function chainFileSize(path: string): number {
  return statSync(path).size;
}

/** Writes encoded blocks to the file at `path`, which must not exist; it is removed when writing fails. */
export async function writeChainFile(
  path: string,
  blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const file = (await open(path, "wx", 0o644)).createWriteStream();
  try {
    if (path.endsWith(".gz")) await pipeline(blocks, createGzip(), file);
    else await pipeline(blocks, file);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

function decode(bytes: Uint8Array, ordinal: number): Block {
  try {
    return decodeBlockAt(bytes, 0).block;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidChainFileError(
      `block ${ordinal} of the file: ${reason}`,
      { ordinal },
      { cause },
    );
  }
}

function isString(item: Uint8Array): boolean {
  return item[0]! < 0xc0;
}

function contentOf(item: Uint8Array): Uint8Array {
  try {
    return Uint8Array.from(decodeRlp(item) as Uint8Array);
  } catch (cause) {
    throw new InvalidChainFileError("consensus data is not canonical RLP", {}, { cause });
  }
}

/** End of the item at `offset`; infinite while its prefix is incomplete. */
function itemEnd(bytes: Uint8Array, offset: number): number {
  const first = bytes[offset];
  if (first === undefined) return Number.POSITIVE_INFINITY;
  if (first < 0x80) throw new InvalidChainFileError("not a block where one should begin");
  const base = first < 0xc0 ? 0x80 : 0xc0;
  if (first < base + 0x38) return offset + 1 + first - base;
  const size = first - base - 0x37;
  if (offset + 1 + size > bytes.length) return Number.POSITIVE_INFINITY;
  let length = 0;
  for (let i = 1; i <= size; i++) length = length * 256 + bytes[offset + i]!;
  if (length > BLOCK_BYTES_MAX) throw new InvalidChainFileError(`block of ${length} bytes`);
  return offset + 1 + size + length;
}

async function isGzipped(path: string): Promise<boolean> {
  for await (const chunk of createReadStream(path, { start: 0, end: 1 })) {
    return chunk[0] === 0x1f && chunk[1] === 0x8b;
  }
  return false;
}

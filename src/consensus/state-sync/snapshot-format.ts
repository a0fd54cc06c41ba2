import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { deflateRaw, inflateRawSync } from "node:zlib";
import type { Address } from "../../base/primitives/address.ts";
import { concatBytes, equalBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { writeChanges } from "../../chain/records/changes-record.ts";
import { type Account, EMPTY_CODE_HASH } from "../../evm/state/account.ts";
import type { AccountChange, StateReader } from "../../evm/state/reader.ts";
import { ByteWriter, MalformedBytesError } from "../../store/storage/byte-io.ts";
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

/** Work between two turns of the event loop, which blocks and callers wait for. */
const SLICE_MS = 5;
/** An account, and a slot, with what is written around them; an upper bound of what fills a part. */
const ACCOUNT_BYTES = 128;
const SLOT_BYTES = 70;

type Part = {
  readonly accounts: AccountChange[];
  readonly codes: Map<Hash, Uint8Array>;
  bytes: number;
};

/**
 * All of `state` as the changes that lead to it from nothing, in parts of about `partBytes`. Accounts are in the order of their addresses, slots in
 * that of their keys, and a code is in the part of the first account that has it: the same state is the same bytes on every node, and a reader
 * sees what is there twice. An account whose storage does not fit into one part is in several, one after the other. The storage of one
 * account is read in one go.
 * @param addresses of every account the state may have, ascending
 */
export async function* statePartsOf(
  state: StateReader,
  addresses: readonly Address[],
  partBytes: number,
): AsyncGenerator<Uint8Array> {
  const writtenCodes = new Set<Hash>();
  let part = emptyPart();
  let sliceEnd = performance.now() + SLICE_MS;
  for (const address of addresses) {
    const account = state.account(address);
    if (account === undefined) continue;
    addCode(part, account, state, writtenCodes);
    for (const storage of storagePartsOf(state, address, partBytes)) {
      part.accounts.push({ address, account, storage, storageCleared: false });
      part.bytes += ACCOUNT_BYTES + storage.size * SLOT_BYTES;
      if (part.bytes >= partBytes) {
        yield encode(part);
        part = emptyPart();
      }
    }
    if (performance.now() < sliceEnd) continue;
    await setImmediate();
    sliceEnd = performance.now() + SLICE_MS;
  }
  if (part.accounts.length > 0) yield encode(part);
}

function emptyPart(): Part {
  return { accounts: [], codes: new Map(), bytes: 0 };
}

function addCode(part: Part, { codeHash }: Account, state: StateReader, written: Set<Hash>): void {
  if (codeHash === EMPTY_CODE_HASH || written.has(codeHash)) return;
  written.add(codeHash);
  const code = state.code(codeHash);
  part.codes.set(codeHash, code);
  part.bytes += code.length;
}

/** The storage of an account in maps of at most `partBytes`; one empty map for an account without storage. */
function storagePartsOf(state: StateReader, address: Address, partBytes: number): readonly ReadonlyMap<Hash, bigint>[] {
  const slotsMax = Math.max(1, Math.floor(partBytes / SLOT_BYTES));
  const parts = [new Map<Hash, bigint>()];
  const entries = [...state.storageEntries(address)];
  // Where they come from rows they are in order but for the newest.
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [slot, value] of entries) {
    const last = parts.at(-1)!;
    if (last.size < slotsMax) last.set(slot, value);
    else parts.push(new Map([[slot, value]]));
  }
  return parts;
}

function encode({ accounts, codes, bytes }: Part): Uint8Array {
  const writer = new ByteWriter(bytes);
  writeChanges(writer, { accounts, codes }, new Set());
  return writer.finish();
}

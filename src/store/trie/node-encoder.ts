import { equalBytes } from "../../base/primitives/bytes.ts";
import { keccak256Message, keccakMessage } from "../../base/primitives/keccak.ts";
import { hexPrefixLength, writeHexPrefix } from "./nibbles.ts";
import { type BranchNode, HASH_LENGTH, type ShortNode } from "./node.ts";

/** The RLP of a node: the first `length` bytes of `bytes`, which the next encoding overwrites. */
export type EncodedNode = { readonly bytes: Uint8Array; readonly length: number };

/** Changed references of a branch; where `changed` has no bit, the old branch's stand. */
export type BranchChange = {
  readonly old: BranchNode | undefined;
  /** bit n: child n is replaced by `references[n]`, or by nothing where that is undefined */
  readonly changed: number;
  readonly references: readonly (Uint8Array | undefined)[];
  readonly value: Uint8Array | undefined;
};

export function encodeShortNode({ kind, path, payload }: ShortNode): EncodedNode {
  const isLeaf = kind === "leaf";
  const pathLength = hexPrefixLength(path.length);
  // A packed path of one byte is below 0x40, so it is its own RLP.
  const pathItem = pathLength === 1 ? 1 : prefixLength(pathLength) + pathLength;
  const length = pathItem + (isLeaf ? stringLength(payload) : referenceLength(payload));
  const out = bufferFor(length);
  let at = writePrefix(0xc0, length, out, 0);
  if (pathLength > 1) at = writePrefix(0x80, pathLength, out, at);
  at = writeHexPrefix(path, isLeaf, out, at);
  if (isLeaf) at = writeString(payload, out, at);
  else at = writeReference(payload, out, at);
  return { bytes: out, length: at };
}

/** The leaf of `key` below `depth` nibbles. */
export function encodeLeaf(key: Uint8Array, depth: number, value: Uint8Array): EncodedNode {
  const payload = leafPayloadLength(key, depth, value);
  const out = bufferFor(payload);
  return { bytes: out, length: writeLeaf(key, depth, value, payload, out, 0) };
}

const leafHash = new Uint8Array(HASH_LENGTH);

/** The leaf of `key` below `depth` nibbles, if `hash` is that of the leaf with this value: it need not be read then. */
export function leafWithHash(
  key: Uint8Array,
  depth: number,
  value: Uint8Array,
  hash: Uint8Array,
): EncodedNode | undefined {
  const leaf = encodeLeaf(key, depth, value);
  if (leaf.bytes !== keccakMessage) return undefined;
  keccak256Message(leaf.length, leafHash, 0);
  return equalBytes(leafHash, hash) ? leaf : undefined;
}

/**
 * Writes the leaf of `key` below `depth` nibbles at `offset` of `out`; returns where it ends.
 * @param payload its `leafPayloadLength`: to measure a leaf is half of writing it
 */
export function writeLeaf(
  key: Uint8Array,
  depth: number,
  value: Uint8Array,
  payload: number,
  out: Uint8Array,
  offset: number,
): number {
  const pathLength = 1 + ((key.length * 2 - depth) >> 1);
  let at = offset;
  // Nearly all leaves of a state, and all of their paths.
  if (payload > 55 && payload < 256) {
    out[at++] = 0xf8;
    out[at++] = payload;
  } else at = writePrefix(0xc0, payload, out, at);
  if (pathLength > 55) at = writePrefix(0x80, pathLength, out, at);
  else if (pathLength > 1) out[at++] = 0x80 + pathLength;
  // The flag, with the first nibble where their number is odd.
  out[at++] = depth % 2 === 0 ? 0x20 : 0x30 | (key[depth >> 1]! & 15);
  for (let i = (depth + 1) >> 1; i < key.length; i++) out[at++] = key[i]!;
  if (value.length < 2 || value.length > 255) return writeString(value, out, at);
  if (value.length < 56) out[at++] = 0x80 + value.length;
  else {
    out[at++] = 0xb8;
    out[at++] = value.length;
  }
  out.set(value, at);
  return at + value.length;
}

/** Bytes of the items of a leaf, without the prefix of the list. */
export function leafPayloadLength(key: Uint8Array, depth: number, value: Uint8Array): number {
  const pathLength = 1 + ((key.length * 2 - depth) >> 1);
  // A packed path of one byte is below 0x40, so it is its own RLP.
  const pathItem = pathLength === 1 ? 1 : pathLength < 56 ? 1 + pathLength : prefixLength(pathLength) + pathLength;
  // Nearly all values are accounts, or slots.
  if (value.length < 2 || value.length > 255) return pathItem + stringLength(value);
  return pathItem + (value.length < 56 ? 1 : 2) + value.length;
}

export function encodeBranch({ old, changed, references, value }: BranchChange): EncodedNode {
  let length = value === undefined ? 1 : stringLength(value);
  for (let n = 0; n < 16; n++) {
    if ((changed >> n) & 1) length += referenceLength(references[n]);
    else if (old !== undefined) length += old.offsets[n + 1]! - old.offsets[n]!;
    else length += 1;
  }
  const out = bufferFor(length);
  let at = writePrefix(0xc0, length, out, 0);
  for (let n = 0; n < 16; ) {
    if ((changed >> n) & 1) {
      at = writeReference(references[n++], out, at);
    } else if (old === undefined) {
      out[at++] = 0x80;
      n++;
    } else {
      const start = old.offsets[n]!;
      while (n < 16 && !((changed >> n) & 1)) n++;
      at = writeBytes(old.rlp, start, old.offsets[n]!, out, at);
    }
  }
  if (value === undefined) out[at++] = 0x80;
  else at = writeString(value, out, at);
  return { bytes: out, length: at };
}

/** Nodes are written where they are hashed. Only a leaf with a very long value (a receipt, a transaction) needs a separate buffer. */
function bufferFor(payloadLength: number): Uint8Array {
  const length = payloadLength + 9;
  return length <= keccakMessage.length ? keccakMessage : new Uint8Array(length);
}

function referenceLength(reference: Uint8Array | undefined): number {
  if (reference === undefined) return 1;
  return reference.length === HASH_LENGTH ? HASH_LENGTH + 1 : reference.length;
}

function writeReference(reference: Uint8Array | undefined, out: Uint8Array, offset: number): number {
  if (reference === undefined) {
    out[offset] = 0x80;
    return offset + 1;
  }
  let at = offset;
  if (reference.length === HASH_LENGTH) out[at++] = 0x80 + HASH_LENGTH;
  return writeBytes(reference, 0, reference.length, out, at);
}

function stringLength(bytes: Uint8Array): number {
  if (bytes.length === 1 && bytes[0]! < 0x80) return 1;
  return prefixLength(bytes.length) + bytes.length;
}

function prefixLength(length: number): number {
  if (length < 56) return 1;
  let size = 1;
  for (let rest = length >>> 8; rest > 0; rest >>>= 8) size++;
  return 1 + size;
}

function writeString(bytes: Uint8Array, out: Uint8Array, offset: number): number {
  let at = offset;
  if (bytes.length !== 1 || bytes[0]! >= 0x80) at = writePrefix(0x80, bytes.length, out, at);
  return writeBytes(bytes, 0, bytes.length, out, at);
}

function writePrefix(base: number, length: number, out: Uint8Array, offset: number): number {
  let at = offset;
  if (length < 56) {
    out[at++] = base + length;
    return at;
  }
  const size = prefixLength(length) - 1;
  out[at++] = base + 55 + size;
  for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) out[at++] = (length >>> shift) & 255;
  return at;
}

function writeBytes(bytes: Uint8Array, start: number, end: number, out: Uint8Array, offset: number): number {
  // A loop beats the call into the runtime for the 33 bytes of a reference (bench/micro/trie.ts).
  if (end - start <= 40) {
    for (let i = start, at = offset; i < end; i++, at++) out[at] = bytes[i]!;
  } else {
    out.set(bytes.subarray(start, end), offset);
  }
  return offset + end - start;
}

import type { GenesisAlloc } from "../../params/genesis-account.ts";
import { PACKED, type PackedAccounts, PackedAlloc } from "../../params/packed-alloc.ts";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { changesOfAlloc } from "../../state/state-changes.ts";
import { writeVarint } from "../../storage/byte-io.ts";
import { crc32Of, extendCrc32 } from "../../storage/crc32.ts";
import { encodeChanges } from "./changes-record.ts";

const ADDRESS_LENGTH = 20;
const HASH_LENGTH = 32;
const COUNT_LENGTH_MAX = 5;
/** What an account takes beside its row: flags, checksum, two lengths, and the count of its slots. */
const ACCOUNT_EXTRA = 1 + 4 + 2 + COUNT_LENGTH_MAX;
/** The same of a slot: checksum and two lengths. */
const SLOT_EXTRA = 4 + 2;
/** The same of a code: its hash in the account, and hash and length before it. */
const CODE_EXTRA = 2 * HASH_LENGTH + COUNT_LENGTH_MAX;
const HAS_CODE = 0x80;
/** So many are in memory that threads share, which saves those that load a state a copy. */
const SHARED_ACCOUNTS_MIN = 10_000;

/** The changes that make the state of `alloc` of nothing, as `encodeChanges` has them. */
export function encodeAlloc(alloc: GenesisAlloc): Uint8Array {
  return alloc instanceof PackedAlloc ? new AllocWriter(alloc.packed).write() : encodeChanges(changesOfAlloc(alloc));
}

/** Writes the form of changes-record.ts without an object for each account. */
class AllocWriter {
  readonly #packed: PackedAccounts;
  readonly #codes = new Map<Hash, Uint8Array>();
  readonly #out: Uint8Array;
  #at = 0;

  constructor(packed: PackedAccounts) {
    this.#packed = packed;
    const { count, codeStarts, slotStarts } = packed;
    let length = 2 * COUNT_LENGTH_MAX + count * (PACKED.accountLength + ACCOUNT_EXTRA);
    length += slotStarts[count]! * (PACKED.slotLength + SLOT_EXTRA);
    for (let index = 0; index < count; index++) {
      const codeLength = codeStarts[index + 1]! - codeStarts[index]!;
      if (codeLength > 0) length += codeLength + CODE_EXTRA;
    }
    // Pages that are not written to take no memory.
    const canShare = count >= SHARED_ACCOUNTS_MIN && typeof SharedArrayBuffer === "function";
    this.#out = new Uint8Array(canShare ? new SharedArrayBuffer(length) : new ArrayBuffer(length));
  }

  write(): Uint8Array {
    const { count } = this.#packed;
    this.#count(count);
    for (let index = 0; index < count; index++) this.#account(index);
    this.#count(this.#codes.size);
    for (const [hash, code] of this.#codes) {
      this.#bytes(hashToBytes(hash));
      this.#count(code.length);
      this.#bytes(code);
    }
    return this.#out.subarray(0, this.#at);
  }

  #account(index: number): void {
    const { accounts, slotStarts } = this.#packed;
    const row = index * PACKED.accountLength;
    const out = this.#out;
    // The flags are 0.
    const start = this.#at + 1;
    const addressAt = start + 5;
    for (let i = 0; i < ADDRESS_LENGTH; i++) out[addressAt + i] = accounts[row + i]!;
    const headAt = addressAt + ADDRESS_LENGTH;
    this.#at = headAt + 1;
    this.#number(accounts, row + PACKED.nonceOffset, row + PACKED.balanceOffset);
    out[headAt] = this.#at - headAt - 1;
    const codeHash = this.#codeHash(index);
    if (codeHash !== undefined) {
      out[headAt]! |= HAS_CODE;
      this.#bytes(codeHash);
    }
    this.#number(accounts, row + PACKED.balanceOffset, row + PACKED.accountLength);
    out[start + 4] = this.#at - headAt;
    this.#checksum(start, crc32Of(out, start + 4, this.#at));
    const [firstSlot, endSlot] = [slotStarts[index]!, slotStarts[index + 1]!];
    this.#count(endSlot - firstSlot);
    if (firstSlot === endSlot) return;
    const seed = crc32Of(out, addressAt, headAt);
    for (let slot = firstSlot; slot < endSlot; slot++) this.#slot(slot, seed);
  }

  #slot(slot: number, seed: number): void {
    const { slots } = this.#packed;
    const row = slot * PACKED.slotLength;
    const start = this.#at;
    const valueAt = row + PACKED.valueOffset;
    this.#at = start + SLOT_EXTRA;
    this.#number(slots, row, valueAt);
    this.#out[start + 4] = this.#at - start - SLOT_EXTRA;
    const end = this.#at;
    this.#number(slots, valueAt, row + PACKED.slotLength);
    this.#out[start + 5] = this.#at - end;
    this.#checksum(start, extendCrc32(seed, this.#out, start + 4, this.#at));
  }

  /** Hash of the code of an account, which is noted; undefined where it has none. */
  #codeHash(index: number): Uint8Array | undefined {
    const { codes, codeStarts } = this.#packed;
    const code = codes.subarray(codeStarts[index]!, codeStarts[index + 1]!);
    if (code.length === 0) return undefined;
    const hash = keccak256Hash(code);
    if (!this.#codes.has(hash)) this.#codes.set(hash, code);
    return hashToBytes(hash);
  }

  #checksum(offset: number, sum: number): void {
    for (let i = 0; i < 4; i++) this.#out[offset + i] = sum >>> (8 * i);
  }

  #count(value: number): void {
    this.#at = writeVarint(value, this.#out, this.#at);
  }

  #bytes(bytes: Uint8Array): void {
    this.#out.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Without leading zeros. */
  #number(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end && bytes[at] === 0) at++;
    let to = this.#at;
    while (at < end) this.#out[to++] = bytes[at++]!;
    this.#at = to;
  }
}

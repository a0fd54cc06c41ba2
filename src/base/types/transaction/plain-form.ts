import type { Address } from "../../primitives/address.ts";
import { EMPTY_BYTES, readBigint } from "../../primitives/bytes.ts";
import { type Hash, ZERO_HASH } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { chainIdFromV } from "./legacy.ts";
import type { AccessList, FeeMarketTransaction, LegacyTransaction } from "./transaction.ts";

const NO_ACCESS_LIST: AccessList = [];

/**
 * Decodes a transaction of type 0, or of type 2 with an empty access list, in one pass: half the time of `StructReader`. undefined for other
 * types and for any fault, so that `decodeTransaction` decodes it or names the fault.
 */
export function decodePlainForm(bytes: Uint8Array): LegacyTransaction | FeeMarketTransaction | undefined {
  if (bytes[0] === 2) return readFeeMarket(bytes);
  return bytes[0]! >= 0xc0 ? readLegacy(bytes) : undefined;
}

function readFeeMarket(raw: Uint8Array): FeeMarketTransaction | undefined {
  const items = new PlainItems(raw, 1);
  const tx: FeeMarketTransaction = {
    type: 2,
    chainId: items.uint(32),
    nonce: items.uint(8),
    maxPriorityFeePerGas: items.uint(32),
    maxFeePerGas: items.uint(32),
    gasLimit: items.uint(8),
    to: items.recipient(),
    value: items.uint(32),
    data: items.bytes(),
    accessList: items.emptyList(),
    v: items.uint(32),
    r: items.uint(32),
    s: items.uint(32),
    hash: items.hash(),
    raw,
  };
  return items.areAllRead() ? tx : undefined;
}

function readLegacy(raw: Uint8Array): LegacyTransaction | undefined {
  const items = new PlainItems(raw, 0);
  const tx = {
    type: 0 as const,
    chainId: undefined as bigint | undefined,
    nonce: items.uint(8),
    gasPrice: items.uint(32),
    gasLimit: items.uint(8),
    to: items.recipient(),
    value: items.uint(32),
    data: items.bytes(),
    v: items.uint(32),
    r: items.uint(32),
    s: items.uint(32),
    hash: items.hash(),
    raw,
  };
  tx.chainId = chainIdFromV(tx.v);
  return items.areAllRead() ? tx : undefined;
}

/** The items of one list, in order. After the first fault, results of all methods are meaningless. */
class PlainItems {
  readonly #bytes: Uint8Array;
  #next: number;
  #isPlain = true;

  /** @param offset of the list, which must extend to the end of `bytes` */
  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    const first = bytes[offset] ?? 0;
    const lengthBytes = first > 0xf7 ? first - 0xf7 : 0;
    this.#next = offset + 1 + lengthBytes;
    const payload = bytes.length - this.#next;
    this.#isPlain =
      first >= 0xc0 &&
      (lengthBytes === 0
        ? payload === first - 0xc0
        : payload > 55 && payload === this.#length(offset + 1, lengthBytes));
  }

  /** Whether every item was read, without a fault. */
  areAllRead(): boolean {
    return this.#isPlain && this.#next === this.#bytes.length;
  }

  /** The transaction's hash after its last item; computes nothing after a fault. */
  hash(): Hash {
    return this.areAllRead() ? keccak256Hash(this.#bytes) : ZERO_HASH;
  }

  uint(lengthMax: number): bigint {
    const first = this.#bytes[this.#next];
    if (first !== undefined && first < 0x80) {
      this.#next++;
      if (first === 0) this.#isPlain = false;
      return BigInt(first);
    }
    const start = this.#short(lengthMax);
    if (!this.#isPlain) return 0n;
    if (this.#next > start && this.#bytes[start] === 0) this.#isPlain = false;
    return readBigint(this.#bytes, start, this.#next);
  }

  /** 20 bytes, or null for none. */
  recipient(): Address | null {
    const start = this.#short(20);
    if (!this.#isPlain || this.#next === start) return null;
    if (this.#next !== start + 20) this.#isPlain = false;
    return bytesToHex(this.#bytes.subarray(start, this.#next)) as Address;
  }

  bytes(): Uint8Array {
    const first = this.#bytes[this.#next] ?? 0;
    if (first < 0x80) {
      this.#next++;
      return this.#bytes.subarray(this.#next - 1, this.#next);
    }
    let start = this.#next;
    if (first <= 0xb7) start = this.#short(55);
    else {
      const lengthBytes = first - 0xb7;
      const length = this.#length(start + 1, lengthBytes);
      start += 1 + lengthBytes;
      if (first >= 0xc0 || length < 56 || !(start + length <= this.#bytes.length)) this.#isPlain = false;
      else this.#next = start + length;
    }
    return this.#isPlain && this.#next > start ? this.#bytes.subarray(start, this.#next) : EMPTY_BYTES;
  }

  emptyList(): AccessList {
    if (this.#bytes[this.#next++] !== 0xc0) this.#isPlain = false;
    return NO_ACCESS_LIST;
  }

  /** Passes over a string of at most 55 bytes; where its content begins. */
  #short(lengthMax: number): number {
    const length = (this.#bytes[this.#next] ?? 0) - 0x80;
    const start = this.#next + 1;
    if (length < 0 || length > lengthMax || start + length > this.#bytes.length) this.#isPlain = false;
    // A single byte below 0x80 is its own encoding.
    if (length === 1 && this.#bytes[start]! < 0x80) this.#isPlain = false;
    this.#next = this.#isPlain ? start + length : start;
    return start;
  }

  /** A length in `count` bytes; NaN if it has leading zeros or more than 32 bits. */
  #length(offset: number, count: number): number {
    if (count > 4 || this.#bytes[offset] === 0) return Number.NaN;
    let length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (this.#bytes[offset + i] ?? Number.NaN);
    return length;
  }
}

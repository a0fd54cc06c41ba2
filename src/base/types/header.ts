import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** A block header; optional fields are present from the fork that added them, in this order. */
export type Header = {
  readonly parentHash: Hash;
  readonly sha3Uncles: Hash;
  readonly coinbase: Address;
  readonly stateRoot: Hash;
  readonly transactionsRoot: Hash;
  readonly receiptsRoot: Hash;
  /** 256 bytes */
  readonly logsBloom: Uint8Array;
  readonly difficulty: bigint;
  /** Below 2^53: a chain with one block per millisecond would reach it after 285,000 years. */
  readonly number: number;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Unix seconds; decoders limit it to 2^53 − 1. */
  readonly timestamp: number;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  /** After the merge this is prevRandao (EIP-4399). */
  readonly mixHash: Hash;
  /** 8 bytes */
  readonly nonce: Uint8Array;
  /** EIP-1559 */
  readonly baseFeePerGas?: bigint;
  /** EIP-4895 */
  readonly withdrawalsRoot?: Hash;
  /** EIP-4844 */
  readonly blobGasUsed?: bigint;
  readonly excessBlobGas?: bigint;
  /** EIP-4788 */
  readonly parentBeaconBlockRoot?: Hash;
  /** EIP-7685 */
  readonly requestsHash?: Hash;
  /** EIP-7928; present only with the slot number */
  readonly blockAccessListHash?: Hash;
  /** EIP-7843, 64 bits */
  readonly slotNumber?: bigint;
};

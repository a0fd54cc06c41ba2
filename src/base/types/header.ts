import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** A block header; the optional fields are present from the fork that brought them, in this order. */
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
  /** Below 2^53: a chain of one block a millisecond would need 285,000 years to pass it. */
  readonly number: number;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Unix seconds; bounded to 2^53 − 1 where it is decoded. */
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
  /** EIP-7928; present with the slot number only */
  readonly blockAccessListHash?: Hash;
  /** EIP-7843, 64 bits */
  readonly slotNumber?: bigint;
};

import { type Hardfork, RULES_AT } from "../../params/hardforks.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";

export type AccessListEntry = {
  readonly address: Address;
  readonly storageKeys: readonly Hash[];
};
export type AccessList = readonly AccessListEntry[];

/** One EIP-7702 authorization tuple; `yParity` can be any byte on the wire, but only 0 and 1 are valid. */
export type Authorization = {
  readonly chainId: bigint;
  readonly address: Address;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
};

/** Fields of every transaction. Gas and nonce in units, value in wei. */
type TransactionBase = {
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  /** null: a contract creation */
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** As on the wire: legacy 27/28 or EIP-155, typed transactions the y parity. */
  readonly v: bigint;
  readonly r: bigint;
  readonly s: bigint;
  readonly hash: Hash;
  /** Canonical EIP-2718 encoding, as in a block body: never with blobs. */
  readonly raw: Uint8Array;
};

/** Type 0; `chainId` is undefined without replay protection (EIP-155). */
export type LegacyTransaction = TransactionBase & {
  readonly type: 0;
  readonly chainId: bigint | undefined;
  readonly gasPrice: bigint;
};

/** Type 1, EIP-2930. */
export type AccessListTransaction = TransactionBase & {
  readonly type: 1;
  readonly chainId: bigint;
  readonly gasPrice: bigint;
  readonly accessList: AccessList;
};

/** The fields that EIP-1559 added. */
type FeeMarketFields = {
  readonly chainId: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly accessList: AccessList;
};

/** Type 2, EIP-1559. */
export type FeeMarketTransaction = TransactionBase & FeeMarketFields & { readonly type: 2 };

/** Type 3, EIP-4844. */
export type BlobTransaction = TransactionBase &
  FeeMarketFields & {
    readonly type: 3;
    readonly maxFeePerBlobGas: bigint;
    readonly blobVersionedHashes: readonly Hash[];
  };

/** Type 4, EIP-7702. */
export type SetCodeTransaction = TransactionBase &
  FeeMarketFields & {
    readonly type: 4;
    readonly authorizationList: readonly Authorization[];
  };

export type Transaction =
  | LegacyTransaction
  | AccessListTransaction
  | FeeMarketTransaction
  | BlobTransaction
  | SetCodeTransaction;

/**
 * Blobs with their proofs, which accompany a type 3 transaction on the network but never in a block. `wrapperVersion` 0 has one proof per blob
 * (EIP-4844), 1 has 128 cell proofs per blob (EIP-7594).
 */
export type BlobSidecar = {
  readonly wrapperVersion: 0 | 1;
  readonly blobs: readonly Uint8Array[];
  readonly commitments: readonly Uint8Array[];
  readonly proofs: readonly Uint8Array[];
};

const SINCE: Readonly<Record<Transaction["type"], Hardfork>> = {
  0: "frontier",
  1: "berlin",
  2: "london",
  3: "cancun",
  4: "prague",
};

export function transactionTypeSince(type: Transaction["type"]): Hardfork {
  return SINCE[type];
}

export function isTransactionTypeSupported(type: Transaction["type"], hardfork: Hardfork): boolean {
  return RULES_AT[hardfork][SINCE[type]];
}

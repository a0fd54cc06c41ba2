import { NodeError } from "../../errors.ts";
import { type Address, addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { hashToBytes } from "../../primitives/hash.ts";
import type { RlpItem } from "../../primitives/rlp.ts";
import type { StructReader } from "../rlp-struct.ts";
import type { AccessList, Transaction } from "./transaction.ts";

/** A transaction without signature, hash and encoding. */
type FieldsOf<T extends Transaction> = T extends Transaction ? Omit<T, "v" | "r" | "s" | "hash" | "raw"> : never;

export type TransactionFields = FieldsOf<Transaction>;

/** The wire format of one type of transaction. */
export type TransactionCodec<T extends Transaction> = {
  /** The structure's name in errors. */
  readonly name: string;
  /** Reads the fields before the signature. */
  readFields(reader: StructReader): FieldsOf<T>;
  /** The same fields as RLP items, in wire order. */
  fieldItems(fields: FieldsOf<T>): RlpItem[];
};

/** The last three items of every transaction. */
export type WireSignature = { readonly v: bigint; readonly r: bigint; readonly s: bigint };

export function readSignature(reader: StructReader, integer?: "*uint256.Int"): WireSignature {
  return {
    v: reader.uint("V", 256, integer),
    r: reader.uint("R", 256, integer),
    s: reader.uint("S", 256, integer),
  };
}

export function signatureItems({ v, r, s }: WireSignature): RlpItem[] {
  return [bigintToBytes(v), bigintToBytes(r), bigintToBytes(s)];
}

/** EIP-2930 */
export function readAccessList(reader: StructReader): AccessList {
  const readEntry = (entry: StructReader) => ({
    address: entry.address("Address"),
    storageKeys: entry.hashes("StorageKeys"),
  });
  return reader.structs("AccessList", "types.AccessTuple", readEntry, "types.AccessList");
}

export function accessListItem(accessList: AccessList): RlpItem {
  return accessList.map(({ address, storageKeys }) => [addressToBytes(address), storageKeys.map(hashToBytes)]);
}

export function optionalAddressItem(address: Address | null): Uint8Array {
  return address === null ? EMPTY_BYTES : addressToBytes(address);
}

/**
 * The transaction is at fault, whatever block it is in: a proposer leaves it out, and in a decided block it is skipped. Any other error of an
 * execution is a bug, damaged data or the block's own fault, and stops the node.
 */
export abstract class TransactionRejection extends NodeError {}

/** The bytes end before the body of a typed transaction. */
export class TransactionTooShortError extends TransactionRejection {
  readonly code = "TX_TOO_SHORT";
  constructor() {
    super("typed transaction too short");
  }
}

/** The transaction type is unknown, or not active in the chain's fork. */
export class TransactionTypeNotSupportedError extends TransactionRejection {
  readonly code = "TX_TYPE_NOT_SUPPORTED";
  constructor(type: number) {
    super("transaction type not supported", { type });
  }
}

/** A signature outside the curve's group, or whose `v` or high `s` the rules reject (EIP-2, EIP-155). */
export class InvalidSignatureError extends TransactionRejection {
  readonly code = "TX_INVALID_SIGNATURE_VRS";
  constructor(details: { readonly v: bigint; readonly r: bigint; readonly s: bigint }) {
    super("invalid transaction v, r, s values", details);
  }
}

/** A well-formed signature from which no public key can be recovered. */
export class SenderRecoveryError extends TransactionRejection {
  readonly code = "TX_EC_RECOVERY_FAIL";
  constructor() {
    super("recovery failed");
  }
}

/** A blob sidecar with an unknown wrapper version. */
export class SidecarVersionError extends TransactionRejection {
  readonly code = "TX_SIDECAR_VERSION_NOT_SUPPORTED";
  constructor(version: bigint) {
    super(`unsupported blob tx version ${version}`, { version });
  }
}

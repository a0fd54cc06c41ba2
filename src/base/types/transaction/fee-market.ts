import { type Address, addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes } from "../../primitives/bytes.ts";
import { hashToBytes } from "../../primitives/hash.ts";
import type { RlpItem } from "../../primitives/rlp.ts";
import type { StructReader } from "../rlp-struct.ts";
import { accessListItem, optionalAddressItem, readAccessList, type TransactionCodec } from "./codec.ts";
import type {
  AccessList,
  AccessListTransaction,
  Authorization,
  BlobTransaction,
  FeeMarketTransaction,
  SetCodeTransaction,
} from "./transaction.ts";

/** The type and the first nine fields of types 2, 3 and 4. */
type FeeMarketFields<Type extends 2 | 3 | 4> = {
  readonly type: Type;
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gasLimit: bigint;
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: AccessList;
};

/** Types 3 and 4 cannot create a contract: their `to` always has 20 bytes. */
function readFeeMarketFields<Type extends 2 | 3 | 4>(reader: StructReader, type: Type): FeeMarketFields<Type> {
  const integer = type === 2 ? "*big.Int" : "*uint256.Int";
  return {
    type,
    chainId: reader.uint("ChainID", 256, integer),
    nonce: reader.uint("Nonce", 64),
    maxPriorityFeePerGas: reader.uint("GasTipCap", 256, integer),
    maxFeePerGas: reader.uint("GasFeeCap", 256, integer),
    gasLimit: reader.uint("Gas", 64),
    to: type === 2 ? reader.optionalAddress("To") : reader.address("To"),
    value: reader.uint("Value", 256, integer),
    data: reader.bytes("Data"),
    accessList: readAccessList(reader),
  };
}

function feeMarketItems(fields: FeeMarketFields<2 | 3 | 4>): RlpItem[] {
  return [
    bigintToBytes(fields.chainId),
    bigintToBytes(fields.nonce),
    bigintToBytes(fields.maxPriorityFeePerGas),
    bigintToBytes(fields.maxFeePerGas),
    bigintToBytes(fields.gasLimit),
    optionalAddressItem(fields.to),
    bigintToBytes(fields.value),
    fields.data,
    accessListItem(fields.accessList),
  ];
}

/**
 * Type 2, EIP-1559: rlp([chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data, accessList,
 * yParity, r, s]).
 */
export const feeMarketCodec = {
  name: "types.DynamicFeeTx",
  readFields: (reader) => readFeeMarketFields(reader, 2),
  fieldItems: feeMarketItems,
} as const satisfies TransactionCodec<FeeMarketTransaction>;

/** Type 1, EIP-2930: rlp([chainId, nonce, gasPrice, gasLimit, to, value, data, accessList, yParity, r, s]). */
export const accessListCodec = {
  name: "types.AccessListTx",
  readFields: (reader) => ({
    type: 1,
    chainId: reader.uint("ChainID", 256),
    nonce: reader.uint("Nonce", 64),
    gasPrice: reader.uint("GasPrice", 256),
    gasLimit: reader.uint("Gas", 64),
    to: reader.optionalAddress("To"),
    value: reader.uint("Value", 256),
    data: reader.bytes("Data"),
    accessList: readAccessList(reader),
  }),
  fieldItems: ({ chainId, nonce, gasPrice, gasLimit, to, value, data, accessList }) => [
    bigintToBytes(chainId),
    bigintToBytes(nonce),
    bigintToBytes(gasPrice),
    bigintToBytes(gasLimit),
    optionalAddressItem(to),
    bigintToBytes(value),
    data,
    accessListItem(accessList),
  ],
} as const satisfies TransactionCodec<AccessListTransaction>;

/**
 * Type 3, EIP-4844: rlp([chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data, accessList,
 * maxFeePerBlobGas, blobVersionedHashes, yParity, r, s]).
 */
export const blobCodec = {
  name: "types.BlobTx",
  readFields: (reader) => ({
    ...readFeeMarketFields(reader, 3),
    maxFeePerBlobGas: reader.uint("BlobFeeCap", 256, "*uint256.Int"),
    blobVersionedHashes: reader.hashes("BlobHashes"),
  }),
  fieldItems: (fields) => [
    ...feeMarketItems(fields),
    bigintToBytes(fields.maxFeePerBlobGas),
    fields.blobVersionedHashes.map(hashToBytes),
  ],
} as const satisfies TransactionCodec<BlobTransaction>;

/**
 * Type 4, EIP-7702: rlp([chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data, accessList,
 * [[chainId, address, nonce, yParity, r, s], …], yParity, r, s]).
 */
export const setCodeCodec = {
  name: "types.SetCodeTx",
  readFields: (reader) => ({
    ...readFeeMarketFields(reader, 4),
    authorizationList: reader.structs("AuthList", "types.SetCodeAuthorization", readAuthorization),
  }),
  fieldItems: (fields) => [...feeMarketItems(fields), fields.authorizationList.map(authorizationItem)],
} as const satisfies TransactionCodec<SetCodeTransaction>;

function readAuthorization(reader: StructReader): Authorization {
  return {
    chainId: reader.uint("ChainID", 256, "*uint256.Int"),
    address: reader.address("Address"),
    nonce: reader.uint("Nonce", 64),
    yParity: reader.uint("V", 8),
    r: reader.uint("R", 256, "*uint256.Int"),
    s: reader.uint("S", 256, "*uint256.Int"),
  };
}

function authorizationItem({ chainId, address, nonce, yParity, r, s }: Authorization): RlpItem {
  return [
    bigintToBytes(chainId),
    addressToBytes(address),
    bigintToBytes(nonce),
    bigintToBytes(yParity),
    bigintToBytes(r),
    bigintToBytes(s),
  ];
}

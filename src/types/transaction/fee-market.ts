import type { Address } from "../../primitives/address.ts";
import { bigintToBytes } from "../../primitives/bytes.ts";
import type { RlpItem } from "../../primitives/rlp.ts";
import type { StructReader } from "../rlp-struct.ts";
import {
  accessListItem,
  optionalAddressItem,
  readAccessList,
  type TransactionCodec,
} from "./codec.ts";
import type { AccessList, FeeMarketTransaction } from "./transaction.ts";

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
export function readFeeMarketFields<Type extends 2 | 3 | 4>(
  reader: StructReader,
  type: Type,
): FeeMarketFields<Type> {
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

export function feeMarketItems(fields: FeeMarketFields<2 | 3 | 4>): RlpItem[] {
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

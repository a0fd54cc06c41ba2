import { bigintToBytes } from "../../primitives/bytes.ts";
import {
  accessListItem,
  optionalAddressItem,
  readAccessList,
  type TransactionCodec,
} from "./codec.ts";
import type { AccessListTransaction } from "./transaction.ts";

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

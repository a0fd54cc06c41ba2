import { addressToBytes } from "../../primitives/address.ts";
import { bigintToBytes } from "../../primitives/bytes.ts";
import type { RlpItem } from "../../primitives/rlp.ts";
import type { StructReader } from "../rlp-struct.ts";
import type { TransactionCodec } from "./codec.ts";
import { feeMarketItems, readFeeMarketFields } from "./fee-market.ts";
import type { Authorization, SetCodeTransaction } from "./transaction.ts";

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
  fieldItems: (fields) => [
    ...feeMarketItems(fields),
    fields.authorizationList.map(authorizationItem),
  ],
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

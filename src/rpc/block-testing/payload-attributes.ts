import type { PayloadRequest } from "../../consensus/block-tester.ts";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { ZERO_HASH } from "../../primitives/hash.ts";
import { withdrawal } from "../params/call-arguments.ts";
import {
  address,
  array,
  data,
  hash,
  object,
  type ParamCodec,
  quantity64,
  quantityNumber,
} from "../params/codec.ts";

export const payloadAttributes = object(
  "PayloadAttributes",
  {
    timestamp: quantityNumber,
    prevRandao: hash,
    suggestedFeeRecipient: address,
    withdrawals: array(withdrawal, "[]*types.Withdrawal"),
    parentBeaconBlockRoot: hash,
    targetGasLimit: quantity64,
  },
  "engine.PayloadAttributes",
);

type Attributes = typeof payloadAttributes extends ParamCodec<infer T> ? T : never;

/** null is "fill the block from the pool", which differs from no transactions. */
export const transactionList: ParamCodec<readonly Uint8Array[] | undefined> = {
  schema: { oneOf: [{ type: "array", items: data.schema }, { type: "null" }] },
  decode: (value, field) =>
    value === null ? undefined : array(data, "[]hexutil.Bytes").decode(value, field),
};

/** The attributes of the block to build, what is left out being zero. */
export function attributesOf(
  { timestamp = 0, prevRandao, suggestedFeeRecipient, ...rest }: Attributes,
  transactions: readonly Uint8Array[] | undefined,
  extraData: Uint8Array | undefined,
): PayloadRequest {
  return {
    ...rest,
    timestamp,
    prevRandao: prevRandao ?? ZERO_HASH,
    feeRecipient: suggestedFeeRecipient ?? ZERO_ADDRESS,
    ...(transactions && { transactions }),
    ...(extraData && { extraData }),
  };
}

import type { BlockRequest, BlockTester, BuiltBlock } from "../../consensus/block-tester.ts";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { ZERO_HASH } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { defineMethod } from "../dispatch/method.ts";
import { withdrawal } from "../params/call-request.ts";
import {
  address,
  array,
  data,
  hash,
  json,
  object,
  optional,
  type ParamCodec,
  quantity64,
  quantityNumber,
} from "../params/codec.ts";

const attributes = object(
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

type Attributes = typeof attributes extends ParamCodec<infer T> ? T : never;

/** null is "fill the block from the pool", which differs from no transactions. */
const transactionList: ParamCodec<readonly Uint8Array[] | undefined> = {
  schema: { oneOf: [{ type: "array", items: data.schema }, { type: "null" }] },
  decode: (value, field) =>
    value === null ? undefined : array(data, "[]hexutil.Bytes").decode(value, field),
};

/**
 * `testing_buildBlockV1`: a block on the head with exactly these transactions, or with the pool's best; nothing is kept.
 *
 * @throws PayloadAttributesError, InvalidTransactionError of the first transaction that does not fit
 * @see execution-apis `src/testing/testing_buildBlockV1.yaml`
 */
export const buildBlockV1 = defineMethod({
  name: "testing_buildBlockV1",
  params: {
    parentHash: hash,
    attributes,
    transactions: transactionList,
    extraData: optional(data),
  },
  result: json,
  heavy: true,
  handle(
    { parentHash, attributes, transactions, extraData },
    { blockTester }: { blockTester: BlockTester },
  ) {
    return payloadJson(
      blockTester.build({ parentHash, ...requestOf(attributes, transactions, extraData) }),
    );
  },
});

/**
 * `testing_commitBlockV1`: builds such a block and makes it the head; its hash.
 *
 * @throws as testing_buildBlockV1
 */
export const commitBlockV1 = defineMethod({
  name: "testing_commitBlockV1",
  params: { attributes, transactions: transactionList, extraData: optional(data) },
  result: hash,
  private: true,
  handle: (
    { attributes, transactions, extraData },
    { blockTester }: { blockTester: BlockTester },
  ) => blockTester.commit(requestOf(attributes, transactions, extraData)),
});

function requestOf(
  { timestamp = 0, prevRandao, suggestedFeeRecipient, ...rest }: Attributes,
  transactions: readonly Uint8Array[] | undefined,
  extraData: Uint8Array | undefined,
): BlockRequest {
  return {
    ...rest,
    timestamp,
    prevRandao: prevRandao ?? ZERO_HASH,
    feeRecipient: suggestedFeeRecipient ?? ZERO_ADDRESS,
    ...(transactions && { transactions }),
    ...(extraData && { extraData }),
  };
}

/** ExecutionPayloadV3 with what comes with it, as in `engine_getPayload`. */
function payloadJson({ sealed, value, sidecars }: BuiltBlock) {
  const { header, hash: blockHash, transactions, withdrawals } = sealed.executed.block;
  const all = (part: "commitments" | "proofs" | "blobs") =>
    sidecars.flatMap((sidecar) => sidecar[part].map(bytesToHex));
  return {
    executionPayload: {
      parentHash: header.parentHash,
      feeRecipient: header.coinbase,
      stateRoot: header.stateRoot,
      receiptsRoot: header.receiptsRoot,
      logsBloom: bytesToHex(header.logsBloom),
      prevRandao: header.mixHash,
      blockNumber: toQuantity(header.number),
      gasLimit: toQuantity(header.gasLimit),
      gasUsed: toQuantity(header.gasUsed),
      timestamp: toQuantity(header.timestamp),
      extraData: bytesToHex(header.extraData),
      baseFeePerGas: toQuantity(header.baseFeePerGas ?? 0n),
      blockHash,
      transactions: transactions.map(({ raw }) => bytesToHex(raw)),
      ...(withdrawals && {
        withdrawals: withdrawals.map(({ index, validatorIndex, address, amount }) => ({
          index: toQuantity(index),
          validatorIndex: toQuantity(validatorIndex),
          address,
          amount: toQuantity(amount),
        })),
      }),
      ...(header.excessBlobGas !== undefined && {
        blobGasUsed: toQuantity(header.blobGasUsed ?? 0n),
        excessBlobGas: toQuantity(header.excessBlobGas),
      }),
    },
    blockValue: toQuantity(value),
    blobsBundle: {
      commitments: all("commitments"),
      proofs: all("proofs"),
      blobs: all("blobs"),
    },
    executionRequests: sealed.requests.map(bytesToHex),
    shouldOverrideBuilder: false,
  };
}

import { ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { PayloadRequest } from "../../../consensus/block-tester.ts";
import type { BuiltPayload } from "../../ports/execution.ts";
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
} from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { withdrawal } from "../params/call-arguments.ts";

const payloadAttributes = object(
  "PayloadAttributes",
  {
    timestamp: quantityNumber,
    prevRandao: hash,
    suggestedFeeRecipient: address,
    withdrawals: array(withdrawal, "[]*types.Withdrawal"),
    parentBeaconBlockRoot: hash,
    targetGasLimit: quantity64,
    slotNumber: quantity64,
  },
  "engine.PayloadAttributes",
);

type Attributes = typeof payloadAttributes extends ParamCodec<infer T> ? T : never;

/** null is "fill the block from the pool", which differs from no transactions. */
const transactionList: ParamCodec<readonly Uint8Array[] | undefined> = {
  schema: { oneOf: [{ type: "array", items: data.schema }, { type: "null" }] },
  takesNull: true,
  decode: (value, field) => (value === null ? undefined : array(data, "[]hexutil.Bytes").decode(value, field)),
};

/** The attributes of the block to build; omitted ones are zero. */
function attributesOf(
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

/** The envelope of an ExecutionPayloadV4 (V3 before Amsterdam), as `engine_getPayload` gives it. */
function payloadJson({ block, requests, value, sidecars, accessList }: BuiltPayload) {
  const { header, hash: blockHash, transactions, withdrawals } = block;
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
      ...(accessList && { blockAccessList: bytesToHex(accessList) }),
      ...(header.slotNumber !== undefined && { slotNumber: toQuantity(header.slotNumber) }),
    },
    blockValue: toQuantity(value),
    blobsBundle: {
      commitments: all("commitments"),
      proofs: all("proofs"),
      blobs: all("blobs"),
    },
    executionRequests: requests.map(bytesToHex),
    shouldOverrideBuilder: false,
  };
}

/**
 * `testing_buildBlockV1`: builds a block on the head with exactly these transactions, or with the pool's best if null; nothing is stored.
 *
 * @throws PayloadAttributesError, InvalidTransactionError of the first transaction that does not fit
 * @see execution-apis `src/testing/testing_buildBlockV1.yaml`
 */
export const buildBlockV1 = defineMethod({
  name: "testing_buildBlockV1",
  params: {
    parentHash: hash,
    attributes: payloadAttributes,
    transactions: transactionList,
    extraData: optional(data),
  },
  example: [
    SAMPLE.hash,
    {
      timestamp: "0x6b000000",
      prevRandao: SAMPLE.zero,
      suggestedFeeRecipient: SAMPLE.bob,
      withdrawals: [],
      parentBeaconBlockRoot: SAMPLE.zero,
    },
    null,
    "0x",
  ],
  result: json,
  heavy: true,
  handle({ parentHash, attributes, transactions, extraData }, { execution }) {
    const wanted = { parentHash, ...attributesOf(attributes, transactions, extraData) };
    return andThen(execution.buildBlock(wanted), payloadJson);
  },
});

/**
 * `testing_commitBlockV1`: builds a block like `testing_buildBlockV1` and makes it the head; returns its hash.
 *
 * @throws as testing_buildBlockV1
 */
export const commitBlockV1 = defineMethod({
  name: "testing_commitBlockV1",
  params: {
    attributes: payloadAttributes,
    transactions: transactionList,
    extraData: optional(data),
  },
  result: hash,
  private: true,
  handle: ({ attributes, transactions, extraData }, { execution }) =>
    execution.commitBlock(attributesOf(attributes, transactions, extraData)),
});

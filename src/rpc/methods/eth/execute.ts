import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import { assertBlobFeeHasBlobs } from "../../../evm/execution/call/call-arguments.ts";
import type { CallOutcome } from "../../../evm/execution/call/call-many.ts";
import { type BlockSelector, blockSelector } from "../../ports/block-selector.ts";
import type { NextBlock } from "../../ports/chain-view.ts";
import { data, optional, quantity, rawJson, rawJsonOf } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { ACCESS_LIST, QUANTITY, shape } from "../json/schemas.ts";
import { accessListText } from "../json/transaction-json.ts";
import { dataText, quantityText } from "../json/write.ts";
import { blockOverrides, callArguments, callBundles, stateContext, stateOverrides } from "../params/call-arguments.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/**
 * `eth_call`: executes a message call on the state after `block` and returns its output. Nothing is written.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, and the executor's
 */
export const call = defineMethod({
  name: "eth_call",
  params: {
    request: callArguments,
    block: optional(blockSelector, "latest"),
    stateOverrides: optional(stateOverrides),
    blockOverrides: optional(blockOverrides),
  },
  example: [SAMPLE.call, "latest"],
  result: data,
  heavy: true,
  handle({ request, block, stateOverrides, blockOverrides }, { execution }, context) {
    assertBlobFeeHasBlobs(request);
    return execution.call({ args: request, at: block, overrides: { stateOverrides, blockOverrides }, cancel: context });
  },
});

/**
 * `eth_callMany`: executes bundles of calls, each on the state the previous call left, starting after a block or before one of its
 * transactions. Each outcome is `{value}` or `{error}`.
 *
 * @throws LimitExceededError, UnknownBlockError, BlockNotCanonicalError, and errors of overrides
 */
export const callMany = defineMethod({
  name: "eth_callMany",
  params: {
    bundles: callBundles,
    context: optional(stateContext, {}),
    stateOverrides: optional(stateOverrides),
  },
  example: [[{ transactions: [SAMPLE.call, SAMPLE.call] }], { blockNumber: "latest" }],
  result: rawJson,
  heavy: true,
  async handle({ bundles, context, stateOverrides }, { execution }, caller) {
    const { blockNumber: at = "latest", transactionIndex: txIndex } = context;
    const outcomes = await execution.callMany({
      bundles,
      at,
      request: { stateOverrides, txIndex },
      cancel: caller,
    });
    return `[${outcomes.map((bundle) => `[${bundle.map(outcomeText)}]`)}]`;
  },
});

function outcomeText(outcome: CallOutcome): string {
  return "value" in outcome ? `{"value":${dataText(outcome.value)}}` : `{"error":${JSON.stringify(outcome.error)}}`;
}

/** A transaction that is being prepared will be in the block after the head: contracts see its time and number. */
function targetOf(block: BlockSelector | undefined, chain: ServingPorts["chain"]): MaybePromise<NextBlock["target"]> {
  return block === undefined ? andThen(chain.nextBlock(), ({ target }) => target) : { at: block };
}

/**
 * `eth_estimateGas`: a gas limit with which the transaction succeeds on the state after `block`. Without `block` the estimate uses the next
 * block, with its number, time and fees.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, and the executor's
 */
export const estimateGas = defineMethod({
  name: "eth_estimateGas",
  params: {
    request: callArguments,
    block: optional(blockSelector),
    stateOverrides: optional(stateOverrides),
    blockOverrides: optional(blockOverrides),
  },
  example: [SAMPLE.call],
  result: quantity,
  heavy: true,
  handle({ request, block, stateOverrides, blockOverrides }, { chain, execution }, context) {
    assertBlobFeeHasBlobs(request);
    return andThen(targetOf(block, chain), (target) =>
      execution.estimateGas({
        args: request,
        ...target,
        overrides: { stateOverrides, blockOverrides },
        cancel: context,
      }),
    );
  },
});

/**
 * `eth_createAccessList`: the access list of a transaction (EIP-2930) and the gas it uses with that list; in the next block by default. A
 * failed execution is still a result, with its reason in `error`.
 */
export const createAccessList = defineMethod({
  name: "eth_createAccessList",
  params: {
    request: callArguments,
    block: optional(blockSelector),
    stateOverrides: optional(stateOverrides),
  },
  example: [SAMPLE.call, "latest"],
  result: rawJsonOf(
    shape("AccessListResult", { accessList: ACCESS_LIST, gasUsed: QUANTITY }, { error: { type: "string" } }),
  ),
  heavy: true,
  async handle({ request, block, stateOverrides }, { chain, execution }, caller) {
    assertBlobFeeHasBlobs(request);
    const overrides = { stateOverrides };
    const { accessList, gasUsed, error } = await execution.createAccessList({
      args: request,
      ...(await targetOf(block, chain)),
      overrides,
      cancel: caller,
    });
    const failure = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
    return `{"accessList":${accessListText(accessList)}${failure},"gasUsed":${quantityText(gasUsed)}}`;
  },
});

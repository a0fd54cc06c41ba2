import type { CallOutcome } from "../../../execution/call/call-many.ts";
import { LimitExceededError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { dataText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { blockOverrides, callArguments, stateOverrides } from "../../params/call-arguments.ts";
import {
  array,
  object,
  optional,
  type ParamCodec,
  quantityNumber,
  rawJson,
} from "../../params/codec.ts";
import type { ExecutionPort } from "../../ports/execution.ts";

/** Calls of one request, as many as eth_simulateV1 takes. */
const CALLS_MAX = 10_000;

/** A position in a block; −1 is after all of them. */
const transactionIndex: ParamCodec<number | undefined> = {
  schema: { oneOf: [{ type: "integer" }, quantityNumber.schema] },
  decode(value, field) {
    if (value === -1) return undefined;
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
      ? value
      : quantityNumber.decode(value, field);
  },
};

/**
 * `eth_callMany`: bundles of calls that see what the ones before did, on the state after a block or before one of its
 * transactions. Each outcome is `{value}` or `{error}`.
 *
 * @throws LimitExceededError, UnknownBlockError, BlockNotCanonicalError, and what is wrong with overrides
 */
export const callMany = defineMethod({
  name: "eth_callMany",
  params: {
    bundles: array(
      object("Bundle", { transactions: array(callArguments), blockOverride: blockOverrides }),
    ),
    context: optional(object("StateContext", { blockNumber: blockSelector, transactionIndex }), {}),
    stateOverrides: optional(stateOverrides),
  },
  result: rawJson,
  heavy: true,
  async handle(
    { bundles, context, stateOverrides },
    { execution }: { execution: Pick<ExecutionPort, "callMany"> },
    caller,
  ) {
    const requests = bundles.map(({ transactions = [], blockOverride }) => ({
      calls: transactions,
      ...(blockOverride && { blockOverrides: blockOverride }),
    }));
    const count = requests.reduce((sum, { calls }) => sum + calls.length, 0);
    if (count > CALLS_MAX) throw new LimitExceededError(`too many calls: ${count} > ${CALLS_MAX}`);
    const { blockNumber: at = "latest", transactionIndex: txIndex } = context;
    const outcomes = await execution.callMany(requests, at, { stateOverrides, txIndex }, caller);
    return `[${outcomes.map((bundle) => `[${bundle.map(outcomeText)}]`)}]`;
  },
});

function outcomeText(outcome: CallOutcome): string {
  return "value" in outcome
    ? `{"value":${dataText(outcome.value)}}`
    : `{"error":${JSON.stringify(outcome.error)}}`;
}

import type { CallOutcome } from "../../../execution/call/call-many.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { dataText } from "../../json/write.ts";
import { stateOverrides } from "../../params/call-arguments.ts";
import { callBundles, stateContext } from "../../params/call-bundles.ts";
import { optional, rawJson } from "../../params/codec.ts";
import type { ExecutionPort } from "../../ports/execution.ts";

/**
 * `eth_callMany`: bundles of calls that see what the ones before did, on the state after a block or before one of its
 * transactions. Each outcome is `{value}` or `{error}`.
 *
 * @throws LimitExceededError, UnknownBlockError, BlockNotCanonicalError, and what is wrong with overrides
 */
export const callMany = defineMethod({
  name: "eth_callMany",
  params: {
    bundles: callBundles,
    context: optional(stateContext, {}),
    stateOverrides: optional(stateOverrides),
  },
  result: rawJson,
  heavy: true,
  async handle(
    { bundles, context, stateOverrides },
    { execution }: { execution: Pick<ExecutionPort, "callMany"> },
    caller,
  ) {
    const { blockNumber: at = "latest", transactionIndex: txIndex } = context;
    const outcomes = await execution.callMany(bundles, at, { stateOverrides, txIndex }, caller);
    return `[${outcomes.map((bundle) => `[${bundle.map(outcomeText)}]`)}]`;
  },
});

function outcomeText(outcome: CallOutcome): string {
  return "value" in outcome
    ? `{"value":${dataText(outcome.value)}}`
    : `{"error":${JSON.stringify(outcome.error)}}`;
}

import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { blockOverrides, callArguments, stateOverrides } from "../../params/call-arguments.ts";
import { data, optional } from "../../params/codec.ts";
import type { ExecutionPort } from "../../ports/execution.ts";

/**
 * `eth_call`: what a message call returns on the state after `block`. Nothing is written.
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
  result: data,
  heavy: true,
  handle: (
    { request, block, stateOverrides, blockOverrides },
    { execution }: { execution: Pick<ExecutionPort, "call"> },
    context,
  ) => execution.call(request, block, { stateOverrides, blockOverrides }, context),
});

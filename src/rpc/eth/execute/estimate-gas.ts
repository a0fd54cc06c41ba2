import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { blockOverrides, callArguments, stateOverrides } from "../../params/call-arguments.ts";
import { optional, quantity } from "../../params/codec.ts";
import type { ExecutionPort } from "../../ports/execution.ts";

/**
 * `eth_estimateGas`: a gas limit with which the transaction succeeds on the state after `block`.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, and the executor's
 */
export const estimateGas = defineMethod({
  name: "eth_estimateGas",
  params: {
    request: callArguments,
    block: optional(blockSelector, "latest"),
    stateOverrides: optional(stateOverrides),
    blockOverrides: optional(blockOverrides),
  },
  result: quantity,
  heavy: true,
  handle: (
    { request, block, stateOverrides, blockOverrides },
    { execution }: { execution: Pick<ExecutionPort, "estimateGas"> },
    context,
  ) => execution.estimateGas(request, block, { stateOverrides, blockOverrides }, context),
});

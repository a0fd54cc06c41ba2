import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { blockOverrides, callRequest, stateOverrides } from "../../params/call-request.ts";
import { optional, quantity } from "../../params/codec.ts";
import type { CallExecutor } from "../../ports/execution.ts";
import { resolveState } from "../../ports/resolve.ts";

/**
 * `eth_estimateGas`: a gas limit with which the transaction succeeds on the state after `block`.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, and the executor's
 */
export const estimateGas = defineMethod({
  name: "eth_estimateGas",
  params: {
    request: callRequest,
    block: optional(blockSelector, "latest"),
    stateOverrides: optional(stateOverrides),
    blockOverrides: optional(blockOverrides),
  },
  result: quantity,
  heavy: true,
  handle: (
    { request, block, stateOverrides, blockOverrides },
    { chain, executor }: { chain: ChainReader; executor: CallExecutor },
    context,
  ) =>
    executor.estimateGas(request, resolveState(chain, block), {
      stateOverrides,
      blockOverrides,
      signal: () => context.signal,
    }),
});

import type { ChainReader } from "../../chain/reader.ts";
import { blockSelector } from "../block-selector.ts";
import { blockOverrides, callRequest, stateOverrides } from "../call-request.ts";
import { optional, quantity } from "../codec.ts";
import { defineMethod } from "../method.ts";
import type { CallExecutor } from "../ports.ts";
import { resolveState } from "../resolve.ts";

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

import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { blockOverrides, callRequest, stateOverrides } from "../../params/call-request.ts";
import { data, optional } from "../../params/codec.ts";
import type { CallExecutor } from "../../ports/execution.ts";
import { resolveState } from "../../ports/resolve.ts";

/**
 * `eth_call`: what a message call returns on the state after `block`. Nothing is written.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, and the executor's
 */
export const call = defineMethod({
  name: "eth_call",
  params: {
    request: callRequest,
    block: optional(blockSelector, "latest"),
    stateOverrides: optional(stateOverrides),
    blockOverrides: optional(blockOverrides),
  },
  result: data,
  heavy: true,
  handle: (
    { request, block, stateOverrides, blockOverrides },
    { chain, executor }: { chain: ChainReader; executor: CallExecutor },
    context,
  ) =>
    executor.call(request, resolveState(chain, block), {
      stateOverrides,
      blockOverrides,
      signal: () => context.signal,
    }),
});

import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { accessListText } from "../../json/transaction-json.ts";
import { quantityText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { callRequest, stateOverrides } from "../../params/call-request.ts";
import { optional, rawJson } from "../../params/codec.ts";
import type { CallExecutor } from "../../ports/execution.ts";
import { resolveState } from "../../ports/resolve.ts";

/**
 * `eth_createAccessList`: what a transaction touches (EIP-2930) and the gas it uses with that list. A failing execution is still a
 * result, with its reason in `error`.
 */
export const createAccessList = defineMethod({
  name: "eth_createAccessList",
  params: {
    request: callRequest,
    block: optional(blockSelector, "latest"),
    stateOverrides: optional(stateOverrides),
  },
  result: rawJson,
  heavy: true,
  async handle(
    { request, block, stateOverrides },
    { chain, executor }: { chain: ChainReader; executor: CallExecutor },
    context,
  ) {
    const { accessList, gasUsed, error } = await executor.createAccessList(
      request,
      resolveState(chain, block),
      { stateOverrides, signal: () => context.signal },
    );
    const failure = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
    return `{"accessList":${accessListText(accessList)}${failure},"gasUsed":${quantityText(gasUsed)}}`;
  },
});

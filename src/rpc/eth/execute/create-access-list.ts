import { defineMethod } from "../../dispatch/method.ts";
import { accessListText } from "../../json/transaction-json.ts";
import { quantityText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { callArguments, stateOverrides } from "../../params/call-arguments.ts";
import { optional, rawJson } from "../../params/codec.ts";
import type { ExecutionPort } from "../../ports/execution.ts";

/**
 * `eth_createAccessList`: what a transaction touches (EIP-2930) and the gas it uses with that list. A failing execution is still a
 * result, with its reason in `error`.
 */
export const createAccessList = defineMethod({
  name: "eth_createAccessList",
  params: {
    request: callArguments,
    block: optional(blockSelector, "latest"),
    stateOverrides: optional(stateOverrides),
  },
  result: rawJson,
  heavy: true,
  async handle(
    { request, block, stateOverrides },
    { execution }: { execution: Pick<ExecutionPort, "createAccessList"> },
    caller,
  ) {
    const overrides = { stateOverrides };
    const { accessList, gasUsed, error } = await execution.createAccessList(
      request,
      block,
      overrides,
      caller,
    );
    const failure = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
    return `{"accessList":${accessListText(accessList)}${failure},"gasUsed":${quantityText(gasUsed)}}`;
  },
});

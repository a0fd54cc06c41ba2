import { defineMethod } from "../../dispatch/method.ts";
import type { BlockNumberOrTag } from "../../params/block-selector.ts";
import { jsonInteger } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { DebugError } from "../errors.ts";
import { numberOrTag } from "./number-or-tag.ts";

/**
 * `debug_getAccessibleState`: the first block of `from` … `to`, whichever is the higher, whose state can be read.
 *
 * @throws DebugError with geth's text where `from` is no block, or `to` the same one
 */
export const getAccessibleState = defineMethod({
  name: "debug_getAccessibleState",
  params: { from: numberOrTag, to: numberOrTag },
  result: jsonInteger,
  async handle({ from, to }, { chain }: { chain: Pick<ChainView, "head" | "header" | "oldest"> }) {
    const { block, state } = await chain.oldest();
    const head = (await chain.head()).header.number;
    // There is no state of the pending block on disk: it counts as the head.
    const numberOf = (at: BlockNumberOrTag) =>
      typeof at === "number" ? at : at === "earliest" ? block : head;
    const [first, last] = [numberOf(from), numberOf(to)];
    if (first === last) throw new DebugError("from and to needs to be different");
    if (!(await chain.header(first))) throw new DebugError(`missing header ${first}`);
    if (first >= state) return first;
    // As in geth, `to` itself is not looked at.
    if (state >= last) throw new DebugError("no state found");
    return state;
  },
});

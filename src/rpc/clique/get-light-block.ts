import { NodeError } from "../../errors.ts";
import { UnknownBlockError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockNumberOrTag } from "../params/block-selector.ts";
import { json, nullAs, optional } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ValidatorVoting } from "./port.ts";

type Modules = {
  readonly chain: Pick<ChainView, "header">;
  readonly node: Pick<ValidatorVoting, "cliqueLightBlock">;
};

/** One process decides the blocks of this chain: no validators sign them. */
export class NoSignaturesError extends NodeError {
  readonly code = "CLIQUE_NO_SIGNATURES";
  constructor() {
    super("one process decides the blocks of this chain: no validators sign them");
  }
}

/**
 * `clique_getLightBlock`: CometBFT's header whose app hash is the hash of a block, the validators' signatures over it, and the
 * validators: `LightBlock`. null until the next block is decided. Not in geth.
 *
 * @throws UnknownBlockError, NoSignaturesError on the solo engine, EngineRpcError where CometBFT no longer has the height
 */
export const getLightBlock = defineMethod({
  name: "clique_getLightBlock",
  params: { block: optional(nullAs(blockNumberOrTag, "latest"), "latest") },
  result: json,
  heavy: true,
  async handle({ block }, { chain, node }: Modules) {
    const sealed = await chain.header(block === "pending" ? "latest" : block);
    if (sealed === undefined) throw new UnknownBlockError("unknown block");
    return (await node.cliqueLightBlock(sealed.header.number)) ?? null;
  },
});

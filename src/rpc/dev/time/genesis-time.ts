import { jsonInteger } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { controlMethods } from "../control-methods.ts";

/** The timestamp of block 0, in Unix seconds, as a JSON integer. */
export const genesisTime = controlMethods({
  names: ["anvil_getGenesisTime"],
  params: {},
  result: jsonInteger,
  async handle(_params, { chain }: { readonly chain: Pick<ChainView, "header"> }) {
    const genesis = await chain.header(0);
    return genesis?.header.timestamp ?? null;
  },
});

import { defineMethod } from "../../dispatch/method.ts";
import { byHash } from "../../params/block-selector.ts";
import { hash, rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { HeaderModules } from "./block-modules.ts";

/** `eth_getHeaderByHash`: the block's header; null when unknown. */
export const getHeaderByHash = defineMethod({
  name: "eth_getHeaderByHash",
  params: { blockHash: hash },
  result: rawJson,
  handle: ({ blockHash }, { chain, sessions }: HeaderModules) =>
    andThen(chain.header(byHash(blockHash)), (sealed) =>
      sealed ? sessions.blockJson.header(sealed) : "null",
    ),
});

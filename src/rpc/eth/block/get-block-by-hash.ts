import { defineMethod } from "../../dispatch/method.ts";
import { byHash } from "../../params/block-selector.ts";
import { boolean, hash, rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { BlockModules } from "./block-modules.ts";

/** `eth_getBlockByHash`: the block with transaction hashes, or whole transactions when `isFull`; null when unknown. */
export const getBlockByHash = defineMethod({
  name: "eth_getBlockByHash",
  params: { blockHash: hash, isFull: boolean },
  result: rawJson,
  handle: ({ blockHash, isFull }, { chain, sessions }: BlockModules) =>
    andThen(chain.block(byHash(blockHash)), (executed) =>
      executed ? sessions.blockJson.get(executed, isFull ? "full" : "hashes") : "null",
    ),
});

import { hashFromBytes, hashToBytes, ZERO_HASH } from "../../../primitives/hash.ts";
import { keccak256 } from "../../../primitives/keccak.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { hash } from "../../params/codec.ts";
import { lenientInteger } from "../../params/lenient-integer.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { assertBlock } from "./assert-block.ts";

/** Blocks of one ethash epoch (Yellow Paper, appendix J). */
const EPOCH_BLOCKS = 30_000;

/**
 * `debug_seedHash`: the ethash seed of a block of the chain: 32 zero bytes, hashed once for each epoch before its own.
 *
 * @throws UnknownBlockError
 */
export const seedHash = defineMethod({
  name: "debug_seedHash",
  params: { number: lenientInteger },
  result: hash,
  handle: ({ number }, { chain }: { chain: Pick<ChainView, "header"> }) =>
    andThen(chain.header(number), (sealed) => {
      assertBlock(sealed, number);
      let seed = hashToBytes(ZERO_HASH);
      for (let epoch = Math.floor(number / EPOCH_BLOCKS); epoch > 0; epoch--)
        seed = keccak256(seed);
      return hashFromBytes(seed);
    }),
});

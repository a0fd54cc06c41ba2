import type { ChainReader } from "../../../chain/reader.ts";
import { hashFromBigint } from "../../../primitives/hash.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, hash, optional, string } from "../../params/codec.ts";
import { parseStorageKey } from "../../params/storage-key.ts";
import { resolveState } from "../../ports/resolve.ts";

/**
 * `eth_getStorageAt`: the 32 bytes in a slot of `account` in the state after `block`; zeros where nothing was stored.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, InvalidParamsError
 */
export const getStorageAt = defineMethod({
  name: "eth_getStorageAt",
  params: { account: address, position: string, block: optional(blockSelector, "latest") },
  result: hash,
  handle({ account, position, block }, { chain }: { chain: ChainReader }) {
    const { state } = resolveState(chain, block);
    return hashFromBigint(state.storage(account, parseStorageKey(position)));
  },
});

import { hashFromBigint, ZERO_HASH } from "../../../primitives/hash.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, hash, optional, string } from "../../params/codec.ts";
import { parseStorageKey } from "../../params/storage-key.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_getStorageAt`: the 32 bytes in a slot of `account` in the state after `block`; zeros where nothing was stored.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, InvalidParamsError
 */
export const getStorageAt = defineMethod({
  name: "eth_getStorageAt",
  params: { account: address, position: string, block: optional(blockSelector, "latest") },
  result: hash,
  handle({ account, position, block }, { chain }: { chain: Pick<ChainView, "storage"> }) {
    let slot = ZERO_HASH;
    let fault: unknown;
    try {
      slot = parseStorageKey(position);
    } catch (error) {
      // As in geth, an unknown block is reported before a position that cannot be read.
      fault = error;
    }
    return andThen(chain.storage(account, slot, block), (value) => {
      if (fault !== undefined) throw fault;
      return hashFromBigint(value);
    });
  },
});

import type { Address } from "../../../primitives/address.ts";
import { type Hash, hashFromBigint } from "../../../primitives/hash.ts";
import { InvalidParamsError, LimitExceededError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { plainListText } from "../../json/write.ts";
import { blockSelector } from "../../params/block-selector.ts";
import {
  address,
  array,
  hash,
  jsonKind,
  optional,
  type ParamCodec,
  rawJson,
  typeFault,
} from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** geth's, over all accounts together. */
const SLOTS_MAX = 1024;

const slotList = array(hash, "[]common.Hash");

const slotsByAccount: ParamCodec<readonly (readonly [Address, readonly Hash[]])[]> = {
  decode(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw typeFault(jsonKind(value), "map[common.Address][]common.Hash");
    }
    return Object.entries(value).map(([account, slots]) => [
      address.decode(account),
      slotList.decode(slots),
    ]);
  },
};

/**
 * `eth_getStorageValues`: 32-byte values of many slots of many accounts in the state after `block`, in the order asked.
 *
 * @throws InvalidParamsError for no slots at all, LimitExceededError, UnknownBlockError, BlockNotCanonicalError
 */
export const getStorageValues = defineMethod({
  name: "eth_getStorageValues",
  params: { slots: slotsByAccount, block: optional(blockSelector, "latest") },
  result: rawJson,
  handle({ slots, block }, { chain }: { chain: Pick<ChainView, "storageValues"> }) {
    const count = slots.reduce((sum, [, keys]) => sum + keys.length, 0);
    if (count > SLOTS_MAX) throw new LimitExceededError(`too many slots (max ${SLOTS_MAX})`);
    if (count === 0) throw new InvalidParamsError("empty request");
    return andThen(chain.storageValues(slots, block), (values) => {
      const members = slots.map(
        ([account], i) => `"${account}":${plainListText(values[i]!.map(hashFromBigint))}`,
      );
      return `{${members.join(",")}}`;
    });
  },
});

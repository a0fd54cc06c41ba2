import { hashFromBigint } from "../../../primitives/hash.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, data, json, jsonInteger } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `debug_storageRangeAt`: storage of an account before transaction `txIndex` of the block, from the hashed slot `keyStart`, in the order of the
 * storage trie. `storage` is null where there is none, as in geth.
 *
 * @throws UnknownBlockError, NotTraceableError, TraceTooLargeError
 */
export const storageRangeAt = defineMethod({
  name: "debug_storageRangeAt",
  params: {
    block: blockSelector,
    txIndex: jsonInteger,
    address,
    keyStart: data,
    maxResult: jsonInteger,
  },
  result: json,
  heavy: true,
  handle(
    { block, txIndex, address, keyStart, maxResult },
    { inspection }: { inspection: Pick<InspectionPort, "storageRange"> },
  ) {
    const slotsMax = Math.max(0, maxResult);
    const range = inspection.storageRange(block, txIndex, address, keyStart, slotsMax);
    return andThen(range, ({ slots, next = null, isEmpty }) => ({
      storage: isEmpty
        ? null
        : Object.fromEntries(
            slots.map(({ hash, slot, value }) => [
              hash,
              { key: slot, value: hashFromBigint(value) },
            ]),
          ),
      nextKey: next,
    }));
  },
});

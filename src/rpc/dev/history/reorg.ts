import { InvalidValueError } from "../../dispatch/errors.ts";
import { array, data, optional, type ParamCodec } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

type PlacedTransaction = { readonly raw: Uint8Array; readonly block: number };

/** `[raw transaction, index of its block among the new ones]` */
const placedTransaction: ParamCodec<PlacedTransaction> = {
  decode(value, field) {
    if (!Array.isArray(value) || value.length !== 2) {
      throw new InvalidValueError(
        "a pair of a raw transaction and the index of its block is wanted",
      );
    }
    return { raw: data.decode(value[0], field), block: lenientCount.decode(value[1], field) };
  },
};

/**
 * `anvil_reorg`: replaces the newest blocks by as many others. Subscribers get the logs of the old ones again with `removed`, and the
 * pool takes their transactions back.
 *
 * @throws DevControlError where there are not so many blocks
 */
export const reorg = controlMethods({
  names: ["anvil_reorg"],
  params: { depth: lenientCount, transactions: optional(array(placedTransaction), []) },
  handle: ({ depth, transactions }, { dev }: DevModules) => dev.reorg(depth, transactions),
});

import { type BlockNumberOrTag, blockNumberOrTag } from "../params/block-selector.ts";
import type { ParamCodec } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";

/** A block number as JSON number, which Otterscan sends, or as QUANTITY or tag. The pending block counts as the newest. */
export const otsBlockNumber: ParamCodec<Exclude<BlockNumberOrTag, "pending">> = {
  schema: blockNumberOrTag.schema ?? {},
  decode(value, field) {
    const block =
      typeof value === "number"
        ? lenientInteger.decode(value, field)
        : blockNumberOrTag.decode(value, field);
    return block === "pending" ? "latest" : block;
  },
};

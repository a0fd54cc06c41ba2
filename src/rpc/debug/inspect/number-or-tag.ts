import { type BlockNumberOrTag, blockNumberOrTag } from "../../params/block-selector.ts";
import type { ParamCodec } from "../../params/codec.ts";
import { lenientInteger } from "../../params/lenient-integer.ts";

/** A block number as JSON number or QUANTITY, or a tag: geth's older methods took the first, its newer ones take the others. */
export const numberOrTag: ParamCodec<BlockNumberOrTag> = {
  ...(blockNumberOrTag.schema && {
    schema: { title: "block", oneOf: [{ type: "integer" }, blockNumberOrTag.schema] },
  }),
  decode: (value, field) =>
    typeof value === "number"
      ? lenientInteger.decode(value, field)
      : blockNumberOrTag.decode(value, field),
};

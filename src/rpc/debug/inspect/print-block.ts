import { inspect } from "node:util";
import { bytesToHex } from "../../../primitives/hex.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { string } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { assertBlock } from "./assert-block.ts";
import { numberOrTag } from "./number-or-tag.ts";

/**
 * `debug_printBlock`: the block's fields as text for people. geth prints its own Go structures, with memory addresses.
 *
 * @throws UnknownBlockError
 */
export const printBlock = defineMethod({
  name: "debug_printBlock",
  params: { block: numberOrTag },
  result: string,
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(block), (executed) => {
      assertBlock(executed, block);
      const options = {
        depth: null,
        maxArrayLength: null,
        maxStringLength: null,
        breakLength: 100,
      };
      return `${inspect(withHexBytes(executed.block), options)}\n`;
    }),
});

function withHexBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return bytesToHex(value);
  if (Array.isArray(value)) return value.map(withHexBytes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withHexBytes(field)]),
  );
}

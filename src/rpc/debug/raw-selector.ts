import { hashToBytes } from "../../primitives/hash.ts";
import { UnknownBlockError } from "../dispatch/errors.ts";
import { type BlockSelector, byHash } from "../params/block-selector.ts";

/** `debug_getRaw*` ignore `requireCanonical`, as geth does. */
export function rawSelector(block: BlockSelector): BlockSelector {
  return typeof block === "object" ? byHash(block.blockHash) : block;
}

/**
 * An unknown number is no error for `debug_getRaw*`, an unknown hash is.
 * @throws UnknownBlockError with geth's text, which prints the hash as a Go byte list
 */
export function assertNotByHash(block: BlockSelector, what: "block" | "header"): void {
  if (typeof block !== "object") return;
  throw new UnknownBlockError(`${what} #[${hashToBytes(block.blockHash).join(" ")}] not found`);
}

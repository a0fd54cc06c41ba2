import { UnknownBlockError } from "../../dispatch/errors.ts";
import type { BlockNumberOrTag } from "../../params/block-selector.ts";

/** @throws UnknownBlockError with geth's text when there is no such block */
export function assertBlock<T>(found: T | undefined, at: BlockNumberOrTag): asserts found is T {
  if (found === undefined) throw new UnknownBlockError(`block #${at} not found`);
}

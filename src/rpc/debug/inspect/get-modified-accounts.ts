import type { Hash } from "../../../primitives/hash.ts";
import { UnknownBlockError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { byHash } from "../../params/block-selector.ts";
import { address, array, hash, optional } from "../../params/codec.ts";
import { lenientInteger } from "../../params/lenient-integer.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { InspectionPort } from "../../ports/inspection.ts";

type Modules = {
  readonly chain: Pick<ChainView, "header">;
  readonly inspection: Pick<InspectionPort, "modifiedAccounts">;
};

/**
 * `debug_getModifiedAccountsByNumber`: accounts of block `end` that are not the same in block `start`; with one number, those that this block changed.
 *
 * @throws UnknownBlockError, TraceTooLargeError, TracingTimeoutError
 */
export const getModifiedAccountsByNumber = defineMethod({
  name: "debug_getModifiedAccountsByNumber",
  params: { start: lenientInteger, end: optional(lenientInteger) },
  result: array(address),
  heavy: true,
  async handle({ start, end }, { chain, inspection }: Modules) {
    if (!(await chain.header(start))) {
      throw new UnknownBlockError(`start block ${start.toString(16)} not found`);
    }
    if (end === undefined) return changedIn(start, inspection);
    if (!(await chain.header(end))) throw new UnknownBlockError(`end block ${end} not found`);
    return changedBetween(start, end, inspection);
  },
});

/** `debug_getModifiedAccountsByHash`: the same, blocks by their hashes. */
export const getModifiedAccountsByHash = defineMethod({
  name: "debug_getModifiedAccountsByHash",
  params: { start: hash, end: optional(hash) },
  result: array(address),
  heavy: true,
  async handle({ start, end }, { chain, inspection }: Modules) {
    const numberOf = async (blockHash: Hash, which: string): Promise<number> => {
      const sealed = await chain.header(byHash(blockHash));
      if (sealed) return sealed.header.number;
      throw new UnknownBlockError(`${which} block ${blockHash.slice(2)} not found`);
    };
    const first = await numberOf(start, "start");
    if (end === undefined) return changedIn(first, inspection);
    return changedBetween(first, await numberOf(end, "end"), inspection);
  },
});

function changedIn(number: number, inspection: Modules["inspection"]) {
  if (number === 0) throw new UnknownBlockError("block 0 has no parent");
  return inspection.modifiedAccounts(number - 1, number);
}

function changedBetween(first: number, last: number, inspection: Modules["inspection"]) {
  if (first >= last) {
    throw new UnknownBlockError(
      `start block height (${first}) must be less than end block height (${last})`,
    );
  }
  return inspection.modifiedAccounts(first, last);
}

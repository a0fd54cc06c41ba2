import { defineMethod } from "../dispatch/method.ts";
import { address, rawJson } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import { assertPageSize } from "./page-size.ts";
import { type SearchModules, searchResult } from "./search-result.ts";
import { transactionsOf } from "./transactions-of.ts";

/**
 * `ots_searchTransactionsBefore`: transactions that have to do with an address, in blocks before `block` (0: from the newest one), newest
 * first. A page holds `pageSize` of them or more, because no block is split.
 *
 * @throws InvalidParamsError, AddressIndexOffError, AddressIndexBuildingError
 */
export const searchTransactionsBefore = defineMethod({
  name: "ots_searchTransactionsBefore",
  params: { address, block: lenientInteger, pageSize: lenientInteger },
  result: rawJson,
  heavy: true,
  async handle({ address, block, pageSize }, modules: SearchModules, context) {
    assertPageSize(pageSize, modules.settings);
    const to = block === 0 ? Number.MAX_SAFE_INTEGER : block - 1;
    const { found, isMore } = await transactionsOf(
      { address, from: 0, to, order: "newestFirst", transactionsMin: pageSize },
      modules,
      context,
    );
    return searchResult(found, { firstPage: block === 0, lastPage: !isMore }, modules);
  },
});

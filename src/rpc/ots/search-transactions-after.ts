import { defineMethod } from "../dispatch/method.ts";
import { address, rawJson } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import { assertPageSize } from "./page-size.ts";
import { type SearchModules, searchResult } from "./search-result.ts";
import { transactionsOf } from "./transactions-of.ts";

/**
 * `ots_searchTransactionsAfter`: as `ots_searchTransactionsBefore`, the transactions in the next blocks after `block` (0: from genesis), newest
 * first.
 *
 * @throws InvalidParamsError, AddressIndexOffError, AddressIndexBuildingError
 */
export const searchTransactionsAfter = defineMethod({
  name: "ots_searchTransactionsAfter",
  params: { address, block: lenientInteger, pageSize: lenientInteger },
  result: rawJson,
  heavy: true,
  async handle({ address, block, pageSize }, modules: SearchModules, context) {
    assertPageSize(pageSize, modules.settings);
    const { found, isMore } = await transactionsOf(
      {
        ...{ address, from: block === 0 ? 0 : block + 1, to: Number.MAX_SAFE_INTEGER },
        ...{ order: "oldestFirst", transactionsMin: pageSize },
      },
      modules,
      context,
    );
    const newestFirst = [...found].reverse();
    return searchResult(newestFirst, { firstPage: !isMore, lastPage: block === 0 }, modules);
  },
});

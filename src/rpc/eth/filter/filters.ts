import { defineMethod } from "../../dispatch/method.ts";
import type { Filters } from "../../filters/filters.ts";
import {
  boolean,
  optional,
  type ParamCodec,
  rawJson,
  schemaOf,
  string,
  typeFault,
} from "../../params/codec.ts";
import { logCriteria, logFilterOf } from "../../params/log-criteria.ts";
import { type LogModules, searchLogs } from "./get-logs.ts";

export type FilterMethodModules = LogModules & { readonly filters: Filters };

const filterId: ParamCodec<string> = {
  ...schemaOf(string),
  decode(value) {
    if (typeof value === "string") return value;
    throw typeFault(value === null ? "null" : typeof value, "rpc.ID");
  },
};

/**
 * `eth_newFilter`: id of a filter for logs of blocks yet to come.
 *
 * @throws InvalidParamsError, LogFilterTermsError, TooManyError
 */
export const newFilter = defineMethod({
  name: "eth_newFilter",
  params: { criteria: logCriteria },
  result: string,
  handle({ criteria }, { filters, logLimits }: FilterMethodModules, { connection }) {
    return filters.addLogs(criteria, logFilterOf(criteria, logLimits.termsMax), connection);
  },
});

/** `eth_newBlockFilter`: id of a filter for the hashes of blocks yet to come. @throws TooManyError */
export const newBlockFilter = defineMethod({
  name: "eth_newBlockFilter",
  params: {},
  result: string,
  handle: (_params, { filters }: FilterMethodModules, { connection }) =>
    filters.addBlocks(connection),
});

/**
 * `eth_newPendingTransactionFilter`: id of a filter for transactions that become executable: their hashes, or themselves when
 * `isFull`.
 *
 * @throws TooManyError
 */
export const newPendingTransactionFilter = defineMethod({
  name: "eth_newPendingTransactionFilter",
  params: { isFull: optional(boolean, false) },
  result: string,
  handle: ({ isFull }, { filters }: FilterMethodModules, { connection }) =>
    filters.addPending(isFull, connection),
});

/** `eth_getFilterChanges`: what occurred since the last call. @throws FilterNotFoundError */
export const getFilterChanges = defineMethod({
  name: "eth_getFilterChanges",
  params: { id: filterId },
  result: rawJson,
  handle: ({ id }, { filters }: FilterMethodModules) => filters.changes(id),
});

/**
 * `eth_getFilterLogs`: what `eth_getLogs` answers to the criteria of the filter; changes not yet read stay.
 *
 * @throws FilterNotFoundError, FilterKindError, and what `eth_getLogs` throws
 */
export const getFilterLogs = defineMethod({
  name: "eth_getFilterLogs",
  params: { id: filterId },
  result: rawJson,
  heavy: true,
  handle({ id }, modules: FilterMethodModules, context) {
    const { criteria, filter } = modules.filters.criteriaOf(id);
    return searchLogs(criteria, filter, modules, context);
  },
});

/** `eth_uninstallFilter`: false when there is no such filter. */
export const uninstallFilter = defineMethod({
  name: "eth_uninstallFilter",
  params: { id: filterId },
  result: boolean,
  handle: ({ id }, { filters }: FilterMethodModules) => filters.remove(id),
});

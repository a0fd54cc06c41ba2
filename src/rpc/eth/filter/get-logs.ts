import type { LogFilter } from "../../../chain/logs/log-filter.ts";
import type { LogSource } from "../../../chain/logs/log-source.ts";
import type { ChainReader } from "../../../chain/reader.ts";
import type { CallContext } from "../../dispatch/context.ts";
import { LogLimitError, UnknownBlockError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { type FoundLogs, findLogs, type LogLimits } from "../../filters/log-search.ts";
import { type JsonText, rawJson } from "../../params/codec.ts";
import {
  type BlockRange,
  type LogCriteria,
  logCriteria,
  logFilterOf,
  resolveRange,
} from "../../params/log-criteria.ts";

export type LogModules = {
  readonly chain: ChainReader;
  readonly logs: LogSource;
  readonly logLimits: LogLimits & {
    /** Addresses, and topics at one position, in a filter; 0: no limit */
    readonly termsMax: number;
  };
};

/**
 * `eth_getLogs`: the logs of a range of blocks, or of one by its hash, that match. A range without bounds is the newest
 * block. One that reaches beyond the newest block is refused, and so is one with more logs than one answer
 * holds: the error's data is then a part of it, from its beginning, that can be answered.
 *
 * @throws InvalidParamsError, UnknownBlockError, LogFilterTermsError, LogLimitError
 * @see execution-apis `src/eth/filter.yaml`, EIP-234
 */
export const getLogs = defineMethod({
  name: "eth_getLogs",
  params: { criteria: logCriteria },
  result: rawJson,
  heavy: true,
  handle({ criteria }, modules: LogModules, context) {
    const filter = logFilterOf(criteria, modules.logLimits.termsMax);
    return searchLogs(criteria, filter, modules, context);
  },
});

/** What `eth_getLogs` answers, for others that answer the same. */
export function searchLogs(
  criteria: LogCriteria,
  filter: LogFilter,
  { chain, logs, logLimits }: LogModules,
  context: CallContext,
): JsonText | Promise<JsonText> {
  const range = rangeOf(criteria, chain);
  const found = findLogs(logs, filter, range, logLimits, () => context.signal);
  return found instanceof Promise
    ? found.then((done) => wholeOf(done, range))
    : wholeOf(found, range);
}

function rangeOf(criteria: LogCriteria, chain: ChainReader): BlockRange {
  if (criteria.blockHash === undefined) {
    return resolveRange(criteria, chain.head().block.header.number);
  }
  const executed = chain.blockByHash(criteria.blockHash);
  if (executed === undefined) throw new UnknownBlockError("unknown block");
  const { number } = executed.block.header;
  return { from: number, to: number };
}

function wholeOf({ json, end, limit }: FoundLogs, { from, to }: BlockRange): JsonText {
  if (end > to || limit === undefined) return json;
  throw new LogLimitError({ limit, from, to: end - 1 });
}

import type { CancelToken } from "../../../base/threads/cancel-token.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import { byHash } from "../../ports/block-selector.ts";
import type { ChainView, FoundLogs } from "../../ports/chain-view.ts";
import {
  boolean,
  type JsonText,
  jsonKind,
  optional,
  type ParamCodec,
  rawAsciiJsonOf,
  schemaOf,
  string,
  typeFault,
} from "../../transport/codec.ts";
import { LogLimitError, UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { either, HASH, LOG, listOf } from "../json/schemas.ts";
import {
  assertTermCount,
  type BlockRange,
  type LogCriteria,
  logCriteria,
  resolveRange,
} from "../params/log-criteria.ts";
import type { RpcPorts, ServingPorts } from "../rpc-ports.ts";

/** null is an id that no filter has, as Go decodes it. */
const filterId: ParamCodec<string> = {
  ...schemaOf(string),
  decode(value) {
    if (typeof value === "string") return value;
    if (value === null) return "";
    throw typeFault(jsonKind(value), "rpc.ID");
  },
};

/**
 * `eth_getLogs`: the matching logs of a range of blocks, or of one block by hash. Without bounds the range is the newest block. A range
 * beyond the newest block is rejected. So is a range with too many logs for one answer: the error's data then holds a smaller range, from
 * the same start, that works.
 *
 * @throws InvalidParamsError, UnknownBlockError, LogFilterTermsError, LogLimitError
 * @see execution-apis `src/eth/filter.yaml`, EIP-234
 */
export const getLogs = defineMethod({
  name: "eth_getLogs",
  params: { criteria: logCriteria },
  example: [{ fromBlock: "0x0", toBlock: "latest", address: SAMPLE.bob }],
  result: rawAsciiJsonOf(listOf(LOG)),
  heavy: true,
  handle({ criteria }, modules, context) {
    assertTermCount(criteria, modules.settings.logLimits.termsMax);
    return searchLogs(criteria, modules, context);
  },
});

/** What `eth_getLogs` answers, for others that answer the same. */
function searchLogs(
  criteria: LogCriteria,
  { chain, settings }: ServingPorts,
  cancel: CancelToken,
): MaybePromise<JsonText> {
  return andThen(rangeOf(criteria, chain), (range) =>
    andThen(chain.logs({ query: { terms: criteria, ...range }, limits: settings.logLimits, cancel }), (found) =>
      completeOf(found, range),
    ),
  );
}

function rangeOf(
  criteria: LogCriteria,
  chain: Pick<ChainView, "head" | "header" | "oldest">,
): MaybePromise<BlockRange> {
  if (criteria.blockHash === undefined) {
    return andThen(chain.oldest(), ({ block }) =>
      andThen(chain.head(), ({ header }) => resolveRange(criteria, block, header.number)),
    );
  }
  return andThen(chain.header({ at: byHash(criteria.blockHash) }), (sealed) => {
    if (sealed === undefined) throw new UnknownBlockError("unknown block");
    const { number } = sealed.header;
    return { from: number, to: number };
  });
}

function completeOf({ json, end, limit }: FoundLogs, { from, to }: BlockRange): JsonText {
  if (end > to || limit === undefined) return json;
  throw new LogLimitError({ limit, from, to: end - 1 });
}

/**
 * `eth_newFilter`: creates a filter for logs of future blocks; returns its id.
 *
 * @throws InvalidParamsError, LogFilterTermsError, TooManyError
 */
export const newFilter = defineMethod({
  name: "eth_newFilter",
  params: { criteria: logCriteria },
  example: [{ address: SAMPLE.bob }],
  result: string,
  handle({ criteria }, { sessions, settings }: RpcPorts, context) {
    assertTermCount(criteria, settings.logLimits.termsMax);
    return sessions.filters.addLogs(criteria, context);
  },
});

/** `eth_newBlockFilter`: creates a filter for hashes of future blocks; returns its id. @throws TooManyError */
export const newBlockFilter = defineMethod({
  name: "eth_newBlockFilter",
  params: {},
  result: string,
  handle: (_params, { sessions }: RpcPorts, context) => sessions.filters.addBlocks(context),
});

/**
 * `eth_newPendingTransactionFilter`: creates a filter for transactions that become executable, by hash, or in full if `isFull`; returns its
 * id.
 *
 * @throws TooManyError
 */
export const newPendingTransactionFilter = defineMethod({
  name: "eth_newPendingTransactionFilter",
  params: { isFull: optional(boolean, false) },
  example: [true],
  result: string,
  handle: ({ isFull }, { sessions }: RpcPorts, context) => sessions.filters.addPending(isFull, context),
});

/** `eth_getFilterChanges`: logs, hashes or transactions since the last poll. @throws FilterNotFoundError */
export const getFilterChanges = defineMethod({
  name: "eth_getFilterChanges",
  params: { id: filterId },
  example: ["0x1"],
  result: rawAsciiJsonOf(either(listOf(LOG), listOf(HASH))),
  handle: ({ id }, { sessions }: RpcPorts) => sessions.filters.changes(id),
});

/**
 * `eth_getFilterLogs`: all logs that match the filter's criteria, as `eth_getLogs`; unread changes stay.
 *
 * @throws FilterNotFoundError, FilterKindError, and what `eth_getLogs` throws
 */
export const getFilterLogs = defineMethod({
  name: "eth_getFilterLogs",
  params: { id: filterId },
  example: ["0x1"],
  result: rawAsciiJsonOf(listOf(LOG)),
  heavy: true,
  handle: ({ id }, modules: RpcPorts, context) => searchLogs(modules.sessions.filters.criteriaOf(id), modules, context),
});

/** `eth_uninstallFilter`: removes a filter; false if there is no such filter. */
export const uninstallFilter = defineMethod({
  name: "eth_uninstallFilter",
  params: { id: filterId },
  example: ["0x1"],
  result: boolean,
  handle: ({ id }, { sessions }: RpcPorts) => sessions.filters.remove(id),
});

import { setImmediate } from "node:timers/promises";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { CancelToken } from "../../../base/threads/cancel-token.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { byHash } from "../../ports/block-selector.ts";
import { boolean, hash, json, jsonString, lenientInteger, object, optional, rawJson } from "../../transport/codec.ts";
import { InvalidParamsError, RequestTimeoutError, UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { logListsInSteps } from "../json/receipt-json.ts";
import { assertTermCount, type LogCriteria, logCriteria, resolveRange } from "../params/log-criteria.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/** `erigon_getLogsByHash`: the logs of a block, one list for each transaction; null for an unknown block. */
export const getLogsByHash = defineMethod({
  name: "erigon_getLogsByHash",
  params: { blockHash: hash },
  example: [SAMPLE.hash],
  result: rawJson,
  handle: ({ blockHash }, { chain, sessions }) =>
    andThen(chain.block({ at: byHash(blockHash) }), (executed) => {
      if (!executed) return "null";
      return inSlices(logListsInSteps(executed), sessions.slices.json);
    }),
});

const logOptions = object("LogFilterOptions", {
  logCount: lenientInteger,
  blockCount: lenientInteger,
  ignoreTopicsOrder: boolean,
});

/** What is read of a log object; the rest is passed on. */
type LogObject = {
  readonly blockNumber: string;
  readonly transactionIndex: string;
  readonly topics: readonly Hash[];
};

/** Blocks of the first search; each one that finds little doubles it. */
const FIRST_WINDOW = 16;
/** JSON of a search, which is parsed in one piece, unless one block has more. */
const PARSED_BYTES_MAX = 1 << 20;

/**
 * `erigon_getLatestLogs`: the newest matching logs, newest transaction first and in log order within it. Returns at most `logCount` logs (1
 * by default), or the logs of the newest `blockCount` blocks with a match. With `ignoreTopicsOrder`, a log matches if it has any of the
 * topics at any position. The default range is genesis to the newest block.
 *
 * @throws InvalidParamsError, UnknownBlockError, LogFilterTermsError, RequestTimeoutError
 */
export const getLatestLogs = defineMethod({
  name: "erigon_getLatestLogs",
  params: { criteria: logCriteria, options: optional(logOptions, {}) },
  example: [{ address: SAMPLE.bob }, { logCount: 10 }],
  result: json,
  heavy: true,
  async handle({ criteria, options }, modules, context) {
    const { logCount = 0, blockCount = 0, ignoreTopicsOrder = false } = options;
    const { logLimits } = modules.settings;
    assertTermCount(criteria, logLimits.termsMax);
    if (logCount > 0 && blockCount > 0) {
      throw new InvalidParamsError("logs count & block count are ambiguous", "options");
    }
    for (const [name, count] of Object.entries({ logCount, blockCount })) {
      if (count > logLimits.resultsMax) {
        throw new InvalidParamsError(`${name}: requested ${count}, maximum ${logLimits.resultsMax}`, "options");
      }
    }
    const logsMax = logCount > 0 ? logCount : blockCount > 0 ? logLimits.resultsMax : 1;
    const wanted = { criteria, logsMax, blockCount, ignoreTopicsOrder };
    return newestLogs(wanted, await rangeOf(criteria, modules.chain), modules, context);
  },
});

type Wanted = {
  readonly criteria: LogCriteria;
  readonly logsMax: number;
  /** 0: no limit */
  readonly blockCount: number;
  readonly ignoreTopicsOrder: boolean;
};

async function rangeOf(criteria: LogCriteria, chain: ServingPorts["chain"]) {
  if (criteria.blockHash === undefined) {
    const { block: oldest } = await chain.oldest();
    const { header } = await chain.head();
    const fromBlock = criteria.fromBlock ?? oldest;
    return resolveRange({ ...criteria, fromBlock }, oldest, header.number);
  }
  const sealed = await chain.header({ at: byHash(criteria.blockHash) });
  if (sealed === undefined) throw new UnknownBlockError("unknown block");
  return { from: sealed.header.number, to: sealed.header.number };
}

/** Searches from the newest block backwards, so many blocks at a time as the limits of a search allow. */
async function newestLogs(
  { criteria, logsMax, blockCount, ignoreTopicsOrder }: Wanted,
  { from, to }: { readonly from: number; readonly to: number },
  { chain, settings }: ServingPorts,
  cancel: CancelToken,
): Promise<readonly LogObject[]> {
  const anywhere = new Set(criteria.topics.flat());
  const terms = ignoreTopicsOrder ? { addresses: criteria.addresses } : criteria;
  const isWanted = ({ topics }: LogObject) =>
    !ignoreTopicsOrder || anywhere.size === 0 || topics.some((topic) => anywhere.has(topic));
  const found: LogObject[] = [];
  const blocks = new Set<string>();
  let end = to;
  let size = FIRST_WINDOW;
  while (end >= from) {
    const begin = Math.max(from, end - size + 1);
    const part = await chain.logs({
      query: { terms, from: begin, to: end },
      limits: { ...settings.logLimits, bytesMax: Math.min(settings.logLimits.bytesMax, PARSED_BYTES_MAX) },
      cancel,
    });
    if (part.end <= end && begin < end) {
      size = Math.max(1, Math.floor((end - begin + 1) / 2));
      continue;
    }
    const logs = (JSON.parse(jsonString(part.json)) as LogObject[]).filter(isWanted);
    for (const log of newestTransactionFirst(logs)) {
      blocks.add(log.blockNumber);
      if (found.length >= logsMax || (blockCount > 0 && blocks.size > blockCount)) return found;
      found.push(log);
    }
    end = begin - 1;
    size *= 2;
    // Other work has its turn between two searches.
    await setImmediate();
    if (cancel.isAborted) throw new RequestTimeoutError();
  }
  return found;
}

function newestTransactionFirst(logs: readonly LogObject[]): readonly LogObject[] {
  const groups: LogObject[][] = [];
  let place = "";
  for (const log of logs) {
    const own = `${log.blockNumber} ${log.transactionIndex}`;
    if (own !== place) groups.push([]);
    place = own;
    groups.at(-1)!.push(log);
  }
  return groups.reverse().flat();
}

import { LogLimitError, UnknownBlockError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { byHash } from "../../params/block-selector.ts";
import { type JsonText, rawAsciiJson } from "../../params/codec.ts";
import {
  assertTermCount,
  type BlockRange,
  type LogCriteria,
  logCriteria,
  resolveRange,
} from "../../params/log-criteria.ts";
import type { CancelToken } from "../../ports/cancel-token.ts";
import type { ChainView, FoundLogs } from "../../ports/chain-view.ts";
import { andThen, type MaybePromise } from "../../ports/maybe-promise.ts";
import type { RpcSettings } from "../../ports/rpc-ports.ts";

export type LogModules = {
  readonly chain: Pick<ChainView, "head" | "oldest" | "header" | "logs">;
  readonly settings: Pick<RpcSettings, "logLimits">;
};

/**
 * `eth_getLogs`: the logs of a range of blocks, or of one by its hash, that match. A range without bounds is the newest
 * block. One that reaches beyond the newest block is rejected, and so is one with more logs than one answer
 * holds: the error's data is then a part of it, from its beginning, that can be answered.
 *
 * @throws InvalidParamsError, UnknownBlockError, LogFilterTermsError, LogLimitError
 * @see execution-apis `src/eth/filter.yaml`, EIP-234
 */
export const getLogs = defineMethod({
  name: "eth_getLogs",
  params: { criteria: logCriteria },
  result: rawAsciiJson,
  heavy: true,
  handle({ criteria }, modules: LogModules, context) {
    assertTermCount(criteria, modules.settings.logLimits.termsMax);
    return searchLogs(criteria, modules, context);
  },
});

/** What `eth_getLogs` answers, for others that answer the same. */
export function searchLogs(
  criteria: LogCriteria,
  { chain, settings }: LogModules,
  cancel: CancelToken,
): MaybePromise<JsonText> {
  return andThen(rangeOf(criteria, chain), (range) =>
    andThen(chain.logs({ terms: criteria, ...range }, settings.logLimits, cancel), (found) =>
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
  return andThen(chain.header(byHash(criteria.blockHash)), (sealed) => {
    if (sealed === undefined) throw new UnknownBlockError("unknown block");
    const { number } = sealed.header;
    return { from: number, to: number };
  });
}

function completeOf({ json, end, limit }: FoundLogs, { from, to }: BlockRange): JsonText {
  if (end > to || limit === undefined) return json;
  throw new LogLimitError({ limit, from, to: end - 1 });
}

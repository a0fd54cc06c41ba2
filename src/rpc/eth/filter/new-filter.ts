import { defineMethod } from "../../dispatch/method.ts";
import { string } from "../../params/codec.ts";
import { assertTermCount, logCriteria } from "../../params/log-criteria.ts";
import type { RpcSettings, Sessions } from "../../ports/rpc-ports.ts";

/**
 * `eth_newFilter`: id of a filter for logs of blocks yet to come.
 *
 * @throws InvalidParamsError, LogFilterTermsError, TooManyError
 */
export const newFilter = defineMethod({
  name: "eth_newFilter",
  params: { criteria: logCriteria },
  result: string,
  handle(
    { criteria },
    {
      sessions,
      settings,
    }: {
      sessions: Pick<Sessions, "filters">;
      settings: Pick<RpcSettings, "logLimits">;
    },
    { connection },
  ) {
    assertTermCount(criteria, settings.logLimits.termsMax);
    return sessions.filters.addLogs(criteria, connection);
  },
});

import type { Config } from "../config/config.ts";
import { type AnswerPage, createPageServer } from "../pages/answer-page.ts";
import { readPageTable } from "../pages/page-table.ts";
import type { DiscoverModules } from "../rpc/methods/rpc/methods.ts";
import type { Readiness } from "../rpc/ports/node.ts";
import type { OtherRequest } from "../rpc/transport/server/http-request.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { MaybePromise } from "../threads/maybe-promise.ts";
import { answerHealth } from "./health.ts";
import { createOpenRpcFile } from "./open-rpc-file.ts";

/** What the RPC port serves besides calls: health, the OpenRPC document, and the pages that the settings open. */
export function createOtherRequests(
  config: Config,
  log: Logger,
  readiness: () => MaybePromise<Readiness>,
  modules: DiscoverModules,
): OtherRequest {
  const answerOpenRpc = createOpenRpcFile(modules);
  const answerPage = openPages(config, log);
  return (request, response, access) =>
    answerHealth(request, response, readiness) ||
    answerOpenRpc(request, response, access) ||
    (answerPage?.(request, response) ?? false);
}

function openPages({ docs, explorer }: Config, log: Logger): AnswerPage | undefined {
  const names = [...(docs.enable ? ["docs"] : []), ...(explorer.enable ? ["explorer"] : [])];
  if (names.length === 0) return undefined;
  const table = readPageTable(names);
  if (table === undefined) {
    log.warn("pages are not built, run npm run build", { pages: names });
    return undefined;
  }
  return createPageServer(table, (error) => log.error("page cannot be read", { error }));
}

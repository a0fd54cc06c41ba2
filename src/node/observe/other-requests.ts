import type { Config } from "../../config/config.ts";
import { type AnswerPage, createPageServer } from "../../pages/answer-page.ts";
import { readPageTable } from "../../pages/page-table.ts";
import type { MaybePromise } from "../../rpc/ports/maybe-promise.ts";
import type { Readiness } from "../../rpc/ports/node.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { answerHealth } from "./health.ts";

/** What the RPC port serves besides calls: health, and the pages that the settings open. */
export function createOtherRequests(
  config: Config,
  log: Logger,
  readiness: () => MaybePromise<Readiness>,
): AnswerPage {
  const answerPage = openPages(config, log);
  return (request, response) =>
    answerHealth(request, response, readiness) || (answerPage?.(request, response) ?? false);
}

function openPages({ explorer }: Config, log: Logger): AnswerPage | undefined {
  const names = explorer.enable ? ["explorer"] : [];
  if (names.length === 0) return undefined;
  const table = readPageTable(names);
  if (table === undefined) {
    log.warn("pages are not built, run npm run build", { pages: names });
    return undefined;
  }
  return createPageServer(table, (error) => log.error("page cannot be read", { error }));
}

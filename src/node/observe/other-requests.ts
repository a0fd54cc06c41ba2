import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import { type DiscoverModules, documentOfListener } from "../../rpc/methods/rpc/methods.ts";
import type { ChainView } from "../../rpc/ports/chain-view.ts";
import type { Readiness } from "../../rpc/ports/node.ts";
import type { AccessPolicy } from "../../rpc/transport/dispatch/context.ts";
import type { OtherRequest } from "../../rpc/transport/server/http-request.ts";
import { type AnswerPage, createPageServer, readPageTable } from "../../web/pages/answer-page.ts";
import { createStartPage } from "../../web/pages/start-page.ts";
import type { Config } from "../config/config.ts";
import { type ApiModules, createEtherscanApi } from "./etherscan/etherscan-api.ts";
import { answerHealth, JSON_TYPE, sendText } from "./health.ts";

/**
 * Answers `/openrpc.json` with the result of `rpc_discover` at the same listener; false for other requests. The text is rendered once per
 * listener.
 */
function createOpenRpcFile(
  modules: DiscoverModules,
): (request: IncomingMessage, response: ServerResponse, access: AccessPolicy) => boolean {
  const texts = new WeakMap<AccessPolicy, Promise<string>>();
  function textOf(access: AccessPolicy): Promise<string> {
    const known = texts.get(access);
    if (known !== undefined) return known;
    const text = (async () => JSON.stringify(await documentOfListener(access, modules)))();
    texts.set(access, text);
    return text;
  }
  return (request, response, access) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    if (request.url?.split("?", 1)[0] !== "/openrpc.json") return false;
    textOf(access).then(
      (text) => sendText(request, response, 200, JSON_TYPE, text),
      () => {
        texts.delete(access);
        response.destroy();
      },
    );
    return true;
  };
}

type OtherRequestModules = DiscoverModules & ApiModules & { readonly chain: Pick<ChainView, "config"> };

/** Requests besides calls on the RPC port: health, the OpenRPC document, and the pages and the API that the settings enable. */
export function createOtherRequests(
  config: Config,
  log: Logger,
  readiness: () => MaybePromise<Readiness>,
  modules: OtherRequestModules,
): OtherRequest {
  const answerOpenRpc = createOpenRpcFile(modules);
  const answerPage = openPages(config, log);
  const answerStart = openStartPage(config, modules);
  const answerApi = config.explorer.enable ? createEtherscanApi(modules, log) : undefined;
  return (request, response, access, budgets) =>
    answerHealth(request, response, readiness) ||
    answerOpenRpc(request, response, access) ||
    answerApi?.(request, response, access, budgets) ||
    answerStart?.(request, response) ||
    (answerPage?.(request, response) ?? false);
}

/** A start page needs other pages to link to. */
function openStartPage({ dev, explorer }: Config, { chain }: OtherRequestModules): AnswerPage | undefined {
  return explorer.enable ? createStartPage({ isDev: dev, chainId: chain.config.chainId }) : undefined;
}

function openPages({ explorer }: Config, log: Logger): AnswerPage | undefined {
  if (!explorer.enable) return undefined;
  const names = ["docs", "explorer"];
  const table = readPageTable(names);
  if (table === undefined) {
    log.warn("the pages are not built: run npm run build", { pages: names });
    return undefined;
  }
  return createPageServer(table, (error) => log.error("page cannot be read", { error }));
}

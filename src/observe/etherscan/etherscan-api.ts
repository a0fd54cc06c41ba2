import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccessPolicy } from "../../rpc/transport/dispatch/context.ts";
import { namespaceOf } from "../../rpc/transport/dispatch/method.ts";
import type { OtherRequest } from "../../rpc/transport/server/http-request.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Timers } from "../../telemetry/timers.ts";
import { JSON_TYPE, sendText } from "../health.ts";
import { ACTIONS, type ActionModules, type ApiAnswer, notOk, reasonOf } from "./actions.ts";
import { ApiParameterError, ETHERSCAN_API_LIMITS, Parameters } from "./parameters.ts";

/** Foundry and Hardhat end the URL with a slash or without. */
const PATHS: ReadonlySet<string> = new Set(["/api", "/api/"]);

/** Etherscan's text for callers that should ask again. */
const BUSY = "Max rate limit reached";

const FORM = "application/x-www-form-urlencoded";

/** Chunks of a body, besides one for each 64 bytes: single bytes cost an event each. */
const SMALL_CHUNKS_MAX = 2048;
const CHUNK_BYTES_MIN = 64;

/**
 * Answers `/api` as Etherscan's API does, as far as `forge verify-contract` and Hardhat's verify plugin use it, and a little more; false for any
 * other request. Host and Origin were checked before.
 */
export function createEtherscanApi(
  modules: ActionModules & { readonly timers: Pick<Timers, "after"> },
  log: Logger,
): OtherRequest {
  let running = 0;
  return (request, response, access) => {
    const { method, url = "" } = request;
    const [path = "", query = ""] = splitUrl(url);
    if (!PATHS.has(path) || (method !== "GET" && method !== "POST")) return false;
    const answer = (status: number, body: ApiAnswer) => sendJson(request, response, status, body);
    if (running >= ETHERSCAN_API_LIMITS.requestsMax) {
      answer(200, notOk(BUSY));
      return true;
    }
    running++;
    const signal = { isAborted: false };
    response.once("close", () => {
      signal.isAborted = true;
    });
    run(request, query, { response, access, modules, signal })
      .then(
        (body) => answer(200, body),
        (error: unknown) => {
          const reason = reasonOf(error);
          if (reason === undefined) log.error("request of /api failed", { error });
          answer(200, notOk(reason ?? "the node failed"));
        },
      )
      .finally(() => running--);
    return true;
  };
}

function splitUrl(url: string): readonly [path: string, query: string] {
  const mark = url.indexOf("?");
  return mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
}

type RunModules = {
  readonly response: ServerResponse;
  readonly access: AccessPolicy;
  readonly modules: ActionModules & { readonly timers: Pick<Timers, "after"> };
  readonly signal: { readonly isAborted: boolean };
};

async function run(
  request: IncomingMessage,
  query: string,
  { response, access, modules, signal }: RunModules,
): Promise<ApiAnswer> {
  if (request.method === "POST" && request.headers.expect !== undefined) response.writeContinue();
  const form = request.method === "POST" ? await readForm(request, modules.timers) : "";
  const parameters = new Parameters(query, form);
  const name = `${parameters.text("module")} ${parameters.text("action")}`;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new ApiParameterError(`there is no such action here; there are: ${Object.keys(ACTIONS).join(", ")}`);
  }
  if (!isServed(action.asMethod, access)) {
    throw new ApiParameterError(`${action.asMethod} is not open at this port`);
  }
  return action.run(parameters, modules, signal);
}

/** Whether strangers may call `method` at the listener. */
function isServed(method: string, { namespaces, isClosed, deniedMethods }: AccessPolicy): boolean {
  return isClosed !== true && namespaces.has(namespaceOf(method)) && deniedMethods?.has(method) !== true;
}

/** The body of a form. @throws ApiParameterError */
async function readForm(request: IncomingMessage, timers: Pick<Timers, "after">): Promise<string> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  const { bodyBytesMax, bodyMs } = ETHERSCAN_API_LIMITS;
  if (type !== undefined && type !== FORM) throw new ApiParameterError(`a POST has the type ${FORM}`);
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = timers.after(bodyMs, "request of /api", () => request.destroy());
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      chunks.push(chunk);
      if (length > bodyBytesMax) throw new ApiParameterError(`more than ${bodyBytesMax} bytes`);
      if (chunks.length > SMALL_CHUNKS_MAX + length / CHUNK_BYTES_MIN)
        throw new ApiParameterError("too many small pieces");
    }
  } finally {
    timer.cancel();
  }
  return type === undefined ? "" : Buffer.concat(chunks).toString("utf8");
}

function sendJson(request: IncomingMessage, response: ServerResponse, status: number, body: ApiAnswer): void {
  // The client has left, or its connection was cut while it sent its body.
  if (response.destroyed || response.headersSent) return;
  response.setHeader("x-content-type-options", "nosniff");
  // What is left of a body that was not read would be taken for the next request.
  if (!request.complete) response.setHeader("connection", "close");
  sendText(request, response, status, JSON_TYPE, JSON.stringify(body));
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { joinedJson } from "../../../rpc/methods/json/write.ts";
import type { MethodSlices } from "../../../rpc/methods/sessions.ts";
import type { AccessPolicy } from "../../../rpc/transport/dispatch/context.ts";
import { namespaceOf } from "../../../rpc/transport/dispatch/method.ts";
import { RequestTimeoutError } from "../../../rpc/transport/errors.ts";
import type { MemoryShare } from "../../../rpc/transport/memory-budget.ts";
import type { OtherRequest } from "../../../rpc/transport/server/http-request.ts";
import { JSON_TYPE, sendText } from "../health.ts";
import { ACTIONS, type ActionModules, type ActionRequest, type ApiAnswer, notOk, reasonOf } from "./actions.ts";
import { ApiParameterError, ETHERSCAN_API_LIMITS, Parameters } from "./parameters.ts";

/** Foundry and Hardhat end the URL with a slash or without. */
const PATHS: ReadonlySet<string> = new Set(["/api", "/api/"]);

/** Etherscan's text that tells callers to retry. */
const BUSY = "Max rate limit reached";

const FORM = "application/x-www-form-urlencoded";

/** Copies of a form in memory: its bytes, its text and its values. */
const FORM_COPIES = 3;

/** Chunks of a body, in addition to one per 64 bytes: each chunk costs an event. */
const SMALL_CHUNKS_MAX = 2048;
const CHUNK_BYTES_MIN = 64;

export type ApiModules = ActionModules & {
  readonly timers: Pick<Timers, "after">;
  readonly sessions: { readonly slices: Pick<MethodSlices, "json"> };
};

/**
 * Answers `/api` like Etherscan's API, as far as `forge verify-contract` and Hardhat's verify plugin use it, and a little more; false for other
 * requests. The caller has checked Host and Origin.
 */
export function createEtherscanApi(modules: ApiModules, log: Logger): OtherRequest {
  let running = 0;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: InTurn = (task) => {
    const mine = last.then(task);
    last = mine.catch(() => {});
    return mine;
  };
  return (request, response, access, budgets) => {
    const { method, url = "" } = request;
    const [path = "", query = ""] = splitUrl(url);
    if (!PATHS.has(path) || (method !== "GET" && method !== "POST")) return false;
    const answer = (status: number, body: ApiAnswer) => sendJson(request, response, status, body);
    if (running >= ETHERSCAN_API_LIMITS.requestsMax) {
      answer(200, notOk(BUSY));
      return true;
    }
    running++;
    const cut = () => void response.destroy();
    const input = budgets.input.open(cut);
    const output = budgets.output.open(cut);
    const caller = { isAborted: false, input, output, slices: modules.sessions.slices.json };
    response.once("close", () => {
      caller.isAborted = true;
      input.close();
      output.close();
    });
    run(request, query, { response, access, modules, caller, inTurn })
      .then(
        (body) => answer(200, body),
        (error: unknown) => {
          if (error instanceof MethodError) {
            response.setHeader("allow", "POST");
            answer(405, notOk(error.message));
            return;
          }
          const reason = reasonOf(error);
          if (reason === undefined) log.error("request of /api failed", { error });
          answer(200, notOk(reason ?? "the node failed"));
        },
      )
      .finally(() => running--);
    return true;
  };
}

/** A GET of an action that needs POST. */
class MethodError extends Error {}

function splitUrl(url: string): readonly [path: string, query: string] {
  const mark = url.indexOf("?");
  return mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
}

/** Runs a task once those before it have ended. */
type InTurn = (task: () => Promise<ApiAnswer>) => Promise<ApiAnswer>;

type RunModules = {
  readonly response: ServerResponse;
  readonly access: AccessPolicy;
  readonly modules: ApiModules;
  readonly caller: ActionRequest & { readonly input: Pick<MemoryShare, "set"> };
  readonly inTurn: InTurn;
};

async function run(
  request: IncomingMessage,
  query: string,
  { response, access, modules, caller, inTurn }: RunModules,
): Promise<ApiAnswer> {
  if (request.method === "POST" && request.headers.expect !== undefined) response.writeContinue();
  const form = request.method === "POST" ? await readForm(request, modules.timers, caller.input) : "";
  const parameters = new Parameters(query, form);
  const name = `${parameters.text("module")} ${parameters.text("action")}`;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new ApiParameterError(`unknown action; supported: ${Object.keys(ACTIONS).join(", ")}`);
  }
  if (!isServed(action.asMethod, access)) {
    throw new ApiParameterError(`${action.asMethod} is not enabled on this port`);
  }
  if (action.changes && request.method !== "POST") throw new MethodError(`${name} needs POST`);
  const start = () => action.run(parameters, modules, caller);
  if (!action.heavy) return start();
  return inTurn(async () => {
    if (caller.isAborted) throw new RequestTimeoutError();
    return start();
  });
}

/** Whether strangers may call `method` at the listener. */
function isServed(method: string, { namespaces, isClosed, deniedMethods }: AccessPolicy): boolean {
  return isClosed !== true && namespaces.has(namespaceOf(method)) && deniedMethods?.has(method) !== true;
}

/** The body of a form. @throws ApiParameterError */
async function readForm(
  request: IncomingMessage,
  timers: Pick<Timers, "after">,
  input: Pick<MemoryShare, "set">,
): Promise<string> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  const { bodyBytesMax, bodyMs } = ETHERSCAN_API_LIMITS;
  if (type !== undefined && type !== FORM) throw new ApiParameterError(`a POST needs the content type ${FORM}`);
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = timers.after(bodyMs, "request of /api", () => request.destroy());
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      chunks.push(chunk);
      input.set(FORM_COPIES * length);
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
  // The client has left, or its connection was cut while it sent the body.
  if (response.destroyed || response.headersSent) return;
  response.setHeader("x-content-type-options", "nosniff");
  // The unread rest of the body would be parsed as the next request.
  if (!request.complete) response.setHeader("connection", "close");
  const { resultJson, ...members } = body;
  if (resultJson === undefined) {
    sendText(request, response, status, JSON_TYPE, JSON.stringify(members));
    return;
  }
  const head = JSON.stringify({ status: body.status, message: body.message }).slice(0, -1);
  const parts = [joinedJson(`${head},"result":`, resultJson, "}")].flat();
  let length = 0;
  for (const part of parts) length += part.length;
  response.writeHead(status, { "content-type": JSON_TYPE, "content-length": length });
  for (const part of parts) response.write(part);
  response.end();
}

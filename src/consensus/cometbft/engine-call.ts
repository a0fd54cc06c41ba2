import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { EngineRpcError, objectOf } from "./engine-answers.ts";

/** Where an RPC of CometBFT is: a unix socket, or an `http:` or `https:` URL. */
export type EngineRpcAddress = { readonly socketPath: string } | { readonly url: URL };

export type EngineCallLimits = {
  /** For the whole answer: one that comes byte by byte ends too. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
};

/**
 * Reads the address of an RPC as CometBFT's own configuration has it: `host:port`, with or without `tcp://`, `http://` or `https://` before
 * it, or `unix:///path`. undefined for what is none.
 */
export function parseRpcAddress(text: string): EngineRpcAddress | undefined {
  const end = text.indexOf("://");
  const [scheme, rest] = end < 0 ? ["tcp", text] : [text.slice(0, end), text.slice(end + 3)];
  if (scheme === "unix") return rest.startsWith("/") ? { socketPath: rest } : undefined;
  if (!["tcp", "http", "https"].includes(scheme)) return undefined;
  try {
    return { url: new URL(`${scheme === "https" ? "https" : "http"}://${rest}`) };
  } catch {
    return undefined;
  }
}

/**
 * Calls a method of CometBFT's RPC. Redirects are not followed.
 * @returns the result, of which nothing is known
 * @throws EngineRpcError
 */
export async function callEngine(
  address: EngineRpcAddress,
  { method, params }: { readonly method: string; readonly params: object },
  limits: EngineCallLimits,
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  let answer: unknown;
  try {
    answer = JSON.parse(await post(address, body, limits));
  } catch (cause) {
    throw new EngineRpcError(`CometBFT does not answer ${method}`, { method }, { cause });
  }
  const { result, error } = objectOf(answer);
  if (error !== undefined) {
    const { message, data } = objectOf(error);
    const text = [data, message].find((each) => typeof each === "string" && each !== "");
    throw new EngineRpcError(`CometBFT: ${(text as string) ?? "an error"}`.slice(0, 300), {
      method,
    });
  }
  return result;
}

function post(
  address: EngineRpcAddress,
  body: string,
  { timeoutMs, bytesMax }: EngineCallLimits,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      signal: AbortSignal.timeout(timeoutMs),
    };
    const onAnswer = (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bytesMax) outgoing.destroy(new Error("answer is too large"));
        else chunks.push(chunk);
      });
      response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
      response.on("error", reject);
    };
    const outgoing =
      "url" in address
        ? (address.url.protocol === "https:" ? requestHttps : requestHttp)(
            address.url,
            options,
            onAnswer,
          )
        : requestHttp({ ...options, path: "/", socketPath: address.socketPath }, onAnswer);
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

import { request as httpRequest } from "node:http";

export type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** undefined when the text is no JSON */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly json: any;
};

/** Sends raw bytes over HTTP with exactly these headers. */
export function sendHttp(
  url: string,
  body: string | Buffer | undefined,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  method = "POST",
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method,
      headers: { "content-type": "application/json", ...headers } as Record<string, string>,
    });
    request.once("error", reject);
    request.once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: parseOrUndefined(text),
        });
      });
    });
    request.end(body);
  });
}

/** Calls one method over HTTP: the whole response object. */
export async function callHttp(url: string, method: string, params: readonly unknown[] = []) {
  return (await sendHttp(url, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))).json;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

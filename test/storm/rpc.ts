import { Agent, request } from "node:http";

/** The node answered with an error object. */
export class RpcError extends Error {
  readonly method: string;
  readonly code: number;
  /** The node puts the call off and asks for it again after so long. */
  readonly retryAfterMs: number | undefined;

  constructor(method: string, { code, message, data }: ReplyError) {
    super(`${method}: ${code} ${message}`);
    this.method = method;
    this.code = code;
    this.retryAfterMs = typeof data === "object" ? data.retryAfterMs : undefined;
  }
}

/** No answer came: the connection was refused, cut or took too long. */
export class NoAnswerError extends Error {}

export type Call = readonly [method: string, ...params: readonly unknown[]];

type ReplyError = {
  readonly code: number;
  readonly message: string;
  /** Bytes of a revert, or an object. */
  readonly data?: string | { readonly retryAfterMs?: number };
};

type Reply = { readonly id: number; readonly result?: unknown; readonly error?: ReplyError };

/** Longer than any answer takes, on a loaded machine too. Milliseconds. */
const TIMEOUT_MS = 120_000;
/** Connections to one node: its senders and its checks. */
const SOCKETS_MAX = 12;
/** Below the default of `json-rpc.batch-limit`. */
const BATCH_MAX = 500;

/** JSON-RPC over HTTP connections that stay open, to one life of one node. */
export class Rpc {
  readonly url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });

  constructor(url: string) {
    this.url = url;
  }

  /** @throws RpcError, NoAnswerError */
  // biome-ignore lint/suspicious/noExplicitAny: callers know the shape of the method that they name
  async call(method: string, ...params: readonly unknown[]): Promise<any> {
    const { result, error } = (await this.#post({ jsonrpc: "2.0", id: 0, method, params })) as Reply;
    if (error) throw new RpcError(method, error);
    return result;
  }

  /** The results in the order of the calls. @throws RpcError of the first call that failed, NoAnswerError */
  // biome-ignore lint/suspicious/noExplicitAny: callers know the shape of the methods that they name
  async batch(calls: readonly Call[]): Promise<any[]> {
    const results: unknown[] = [];
    for (let start = 0; start < calls.length; start += BATCH_MAX) {
      const part = calls.slice(start, start + BATCH_MAX);
      const body = part.map(([method, ...params], id) => ({ jsonrpc: "2.0", id, method, params }));
      const replies = (await this.#post(body)) as Reply[];
      for (const { id, result, error } of replies) {
        if (error) throw new RpcError(part[id]![0], error);
        results[start + id] = result;
      }
    }
    return results;
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(body: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const noAnswer = (cause: Error) => reject(new NoAnswerError(cause.message, { cause }));
      const sent = request(
        this.url,
        { method: "POST", agent: this.#agent, timeout: TIMEOUT_MS, headers: { "content-type": "application/json" } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", noAnswer);
          response.on("end", () => {
            try {
              resolve(JSON.parse(Buffer.concat(chunks).toString()));
            } catch (error) {
              noAnswer(error as Error);
            }
          });
        },
      );
      sent.on("timeout", () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      sent.on("error", noAnswer);
      sent.end(JSON.stringify(body));
    });
  }
}

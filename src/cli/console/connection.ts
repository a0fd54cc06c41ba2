import { existsSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { resolve } from "node:path";
import { WebSocket } from "ws";
import { NodeError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/primitives/shape.ts";
import { parseRemoteUrl, type RemoteUrl } from "../../base/telemetry/remote-url.ts";
import type { Config } from "../../node/config/config.ts";
import { JsonStream } from "../../rpc/transport/server/json-stream.ts";

/** The node cannot be reached, or the connection to it ended. */
export class ConnectionFailedError extends NodeError {
  readonly code = "CONSOLE_CONNECTION";
}

/** The error object of a JSON-RPC response. */
export class RpcResponseError extends NodeError {
  readonly code = "CONSOLE_RPC";
  /** As in the response, for scripts that look at it. */
  readonly rpcCode: number;
  readonly data: unknown;
  constructor(error: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(`${error.message} (${error.code})`, { rpcCode: error.code });
    this.rpcCode = error.code;
    this.data = error.data;
  }
}

/** A JSON-RPC client. */
export type RpcConnection = {
  /** Origin or path of the node, without credentials. */
  readonly target: string;
  /** The result. @throws RpcResponseError, ConnectionFailedError */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * `eth_subscribe`: hands `listener` each event until the returned function is called.
   * @throws as request; ConnectionFailedError where the transport has no notifications
   */
  subscribe(params: readonly unknown[], listener: (event: unknown) => void): Promise<() => Promise<unknown>>;
  close(): void;
};

/** One response of a JSON-RPC server, or a notification. */
export type RpcMessage = {
  readonly id: unknown;
  readonly result: unknown;
  readonly error: RpcErrorObject | undefined;
  /** Of a notification of `eth_subscribe`. */
  readonly event: { readonly subscription: string; readonly result: unknown } | undefined;
};

type RpcErrorObject = {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
};

/** Answers to a person: as large as a string can be. */
const RESPONSE_BYTES_MAX = 512 * 1024 * 1024;

/** Decodes a JSON-RPC message of a server. @throws ConnectionFailedError for anything else */
export function parseMessage(text: string, target: string): RpcMessage {
  const message = objectIn(text);
  const { id, result, params } = message ?? {};
  // Some servers send `"error": null` beside a result.
  const error = message?.["error"] ?? undefined;
  if (message === undefined || (error !== undefined && !isErrorObject(error))) {
    throw new ConnectionFailedError(`${target} does not answer with JSON-RPC`, { target });
  }
  return {
    id,
    result,
    error: error && { code: error.code, message: error.message, data: error.data },
    event: eventOf(params),
  };
}

/** The result of a response. @throws RpcResponseError */
export function resultOf({ error, result }: RpcMessage): unknown {
  if (error !== undefined) throw new RpcResponseError(error);
  return result;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isErrorObject(value: unknown): value is RpcErrorObject {
  return isJsonObject(value) && typeof value["code"] === "number" && typeof value["message"] === "string";
}

function eventOf(params: unknown): RpcMessage["event"] {
  if (!isJsonObject(params) || typeof params["subscription"] !== "string") return undefined;
  return { subscription: params["subscription"], result: params["result"] };
}

/** JSON-RPC over HTTP, which has no notifications. */
function connectHttp({ url, headers, origin }: RemoteUrl): RpcConnection {
  let lastId = 0;
  return {
    target: origin,
    async request(method, params) {
      const response = await fetch(url, {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params }),
        headers: { "content-type": "application/json", ...headers },
        // The body of a call, which may hold a passphrase, goes to the node that was named.
        redirect: "error",
      }).catch((cause) => {
        throw new ConnectionFailedError(`no node answers at ${origin}`, { origin }, { cause });
      });
      return resultOf(parseMessage(await readText(response, origin), origin));
    },
    async subscribe() {
      throw new ConnectionFailedError("HTTP has no events: attach over WebSocket or IPC");
    },
    close() {},
  };
}

/** @throws ConnectionFailedError for more than a client takes, and where the connection breaks */
async function readText({ body }: Response, origin: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length;
      if (length > RESPONSE_BYTES_MAX) throw new RangeError("the answer is too large");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (cause) {
    throw new ConnectionFailedError(`the answer of ${origin} is incomplete`, { origin }, { cause });
  }
}

/** JSON-RPC over WebSocket. @throws ConnectionFailedError */
function connectWebSocket({ url, headers, origin }: RemoteUrl): Promise<RpcConnection> {
  const socket = new WebSocket(url, { headers, maxPayload: RESPONSE_BYTES_MAX });
  const messages = new MessageExchange(
    origin,
    (text) => socket.send(text),
    () => socket.close(),
  );
  socket.on("message", (data) => messages.receive(String(data)));
  return opened(messages, {
    onOpen: (listener) => socket.on("open", listener),
    onError: (listener) => socket.on("error", listener),
    onClose: (listener) => socket.on("close", listener),
  });
}

/** JSON-RPC over a Unix socket. @throws ConnectionFailedError */
function connectIpc(path: string): Promise<RpcConnection> {
  const socket = connectSocket(path);
  const messages = new MessageExchange(
    path,
    (text) => socket.write(text),
    () => socket.end(),
  );
  const stream = new JsonStream(RESPONSE_BYTES_MAX);
  socket.on("data", (chunk) => {
    const values = stream.push(chunk);
    if (values === undefined) socket.destroy(new Error("a response is too large"));
    for (const value of values ?? []) messages.receive(value.toString());
  });
  return opened(messages, {
    onOpen: (listener) => socket.on("connect", listener),
    onError: (listener) => socket.on("error", listener),
    onClose: (listener) => socket.on("close", listener),
  });
}

type SocketEvents = {
  onOpen(listener: () => void): unknown;
  onError(listener: (error: Error) => void): unknown;
  onClose(listener: () => void): unknown;
};

function opened(messages: MessageExchange, events: SocketEvents): Promise<RpcConnection> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: Error) => {
      const { target } = messages;
      const error = new ConnectionFailedError(`no node answers at ${target}`, { target }, { cause });
      messages.fail(error);
      reject(error);
    };
    events.onError(fail);
    events.onClose(fail);
    events.onOpen(() => resolve(messages));
  });
}

/** Requests and responses over a stream of messages, matched by id. */
class MessageExchange implements RpcConnection {
  readonly target: string;
  readonly close: () => void;
  readonly #send: (text: string) => void;
  readonly #waiting = new Map<number, { resolve(response: RpcMessage): void; reject(error: Error): void }>();
  readonly #subscriptions = new Map<string, (event: unknown) => void>();
  #lastId = 0;
  #failure: Error | undefined;

  constructor(target: string, send: (text: string) => void, close: () => void) {
    this.target = target;
    this.#send = send;
    this.close = close;
  }

  async request(method: string, params: readonly unknown[]): Promise<unknown> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = ++this.#lastId;
    const response = await new Promise<RpcMessage>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
    return resultOf(response);
  }

  async subscribe(params: readonly unknown[], listener: (event: unknown) => void): Promise<() => Promise<unknown>> {
    const id = await this.request("eth_subscribe", params);
    if (typeof id !== "string") {
      throw new ConnectionFailedError(`${this.target} did not return a subscription id`);
    }
    this.#subscriptions.set(id, listener);
    return () => {
      this.#subscriptions.delete(id);
      return this.request("eth_unsubscribe", [id]);
    };
  }

  /** Closes the connection if the server sends anything but JSON-RPC, since later messages cannot be matched either. */
  receive(text: string): void {
    let message: RpcMessage;
    try {
      message = parseMessage(text, this.target);
    } catch (error) {
      this.fail(error as Error);
      this.close();
      return;
    }
    const { id, event } = message;
    if (event !== undefined) this.#subscriptions.get(event.subscription)?.(event.result);
    else if (typeof id === "number") {
      this.#waiting.get(id)?.resolve(message);
      this.#waiting.delete(id);
    }
  }

  /** Rejects pending and later requests. */
  fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/**
 * Opens a connection to a node.
 * @param target `http(s)://…`, `ws(s)://…`, or the path of an IPC socket
 * @param token bearer token for private methods
 * @throws ConnectionFailedError
 */
export async function connect(target: string, token: string | undefined): Promise<RpcConnection> {
  if (/^https?:/i.test(target)) return connectHttp(remoteOf(target, token));
  if (/^wss?:/i.test(target)) return await connectWebSocket(remoteOf(target, token));
  return await connectIpc(target);
}

/** The node that runs on a home, over its socket; undefined where none answers. */
export async function connectToHome({ home, ipc }: Pick<Config, "home" | "ipc">): Promise<RpcConnection | undefined> {
  const path = resolve(home, ipc.path);
  if (ipc.path === "" || !existsSync(path)) return undefined;
  try {
    return await connectIpc(path);
  } catch (error) {
    // A node that was killed leaves its socket.
    if (error instanceof ConnectionFailedError) return undefined;
    throw error;
  }
}

/** @throws ConnectionFailedError */
function remoteOf(target: string, token: string | undefined): RemoteUrl {
  const remote = parseRemoteUrl(target, ["http", "https", "ws", "wss"]);
  if (remote === undefined) throw new ConnectionFailedError("the target is not a URL");
  if (token === undefined) return remote;
  return { ...remote, headers: { authorization: `Bearer ${token}` } };
}

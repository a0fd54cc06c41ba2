import { connect as connectSocket } from "node:net";
import { WebSocket } from "ws";
import { JsonStream } from "../rpc/transport/server/json-stream.ts";
import type { RemoteUrl } from "../telemetry/remote-url.ts";
import { ConnectionFailedError } from "./errors.ts";
import {
  parseMessage,
  RESPONSE_BYTES_MAX,
  type RpcConnection,
  type RpcMessage,
  resultOf,
} from "./rpc-connection.ts";

/** JSON-RPC over WebSocket. @throws ConnectionFailedError */
export function connectWebSocket({ url, headers, origin }: RemoteUrl): Promise<RpcConnection> {
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
export function connectIpc(path: string): Promise<RpcConnection> {
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
      const error = new ConnectionFailedError(
        `no node answers at ${target}`,
        { target },
        { cause },
      );
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
  readonly #waiting = new Map<
    number,
    { resolve(response: RpcMessage): void; reject(error: Error): void }
  >();
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

  async subscribe(
    params: readonly unknown[],
    listener: (event: unknown) => void,
  ): Promise<() => Promise<unknown>> {
    const id = await this.request("eth_subscribe", params);
    if (typeof id !== "string") {
      throw new ConnectionFailedError(`${this.target} gives no id of a subscription`);
    }
    this.#subscriptions.set(id, listener);
    return () => {
      this.#subscriptions.delete(id);
      return this.request("eth_unsubscribe", [id]);
    };
  }

  /** A server that sends anything but JSON-RPC ends the connection: what it says next cannot be matched either. */
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

  /** Rejects what is waiting and every later request. */
  fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

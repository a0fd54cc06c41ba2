import { ConnectionFailedError, RpcResponseError } from "./errors.ts";

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
  subscribe(
    params: readonly unknown[],
    listener: (event: unknown) => void,
  ): Promise<() => Promise<unknown>>;
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

export type RpcErrorObject = {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
};

/** Answers that a person asked for: as large as a string can be. */
export const RESPONSE_BYTES_MAX = 512 * 1024 * 1024;

/** Decodes what a server sent. @throws ConnectionFailedError for anything but a message of JSON-RPC */
export function parseMessage(text: string, target: string): RpcMessage {
  const message = objectIn(text);
  const { id, result, params } = message ?? {};
  // Some servers send `"error": null` beside a result.
  const error = message?.["error"] ?? undefined;
  if (message === undefined || (error !== undefined && !isErrorObject(error))) {
    throw new ConnectionFailedError(`${target} does not answer with JSON-RPC`, { target });
  }
  return {
    ...{ id, result },
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
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isErrorObject(value: unknown): value is RpcErrorObject {
  return (
    isObject(value) && typeof value["code"] === "number" && typeof value["message"] === "string"
  );
}

function eventOf(params: unknown): RpcMessage["event"] {
  if (!isObject(params) || typeof params["subscription"] !== "string") return undefined;
  return { subscription: params["subscription"], result: params["result"] };
}

/** A JSON object, not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

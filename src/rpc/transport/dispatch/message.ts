import { isJsonObject } from "../../../base/primitives/shape.ts";
/** What one element of a body is, by JSON-RPC 2.0 and geth's reading of it. `id` is JSON text, ready to be echoed. */
export type Message =
  | {
      readonly kind: "call";
      readonly id: string;
      readonly method: string;
      readonly params: RawParams;
    }
  | { readonly kind: "notification"; readonly method: string; readonly params: RawParams }
  /** An answer to something we never asked: dropped. */
  | { readonly kind: "response" }
  | { readonly kind: "invalid"; readonly id: string };

/** undefined if `params` is present but neither an array, nor an object for a method that takes one */
export type RawParams = readonly unknown[] | undefined;

/** The parameters of a message whose `params` are absent or null: for methods that tell them from an empty array. */
export const NO_PARAMS: readonly unknown[] = [];

/**
 * Classifies one parsed message. Unknown members are ignored, and those in other letter case are; one of the wrong JSON type counts as
 * absent.
 *
 * @param idText the id as it stood in the body, when known
 * @param versionOptional accept a message without `jsonrpc`, as WebSocket clients written from examples send it
 */
export function readMessage(
  value: unknown,
  idText: string | undefined,
  idBytesMax: number,
  versionOptional: boolean,
): Message {
  if (!isJsonObject(value)) {
    return { kind: "invalid", id: "null" };
  }
  let version: unknown;
  let id: unknown;
  let method = "";
  let params: unknown;
  let answers = false;
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    switch (key) {
      case "jsonrpc":
        version = member;
        break;
      case "id":
        id = member;
        break;
      case "method":
        if (typeof member === "string") method = member;
        break;
      case "params":
        params = member;
        break;
      case "result":
        answers = true;
        break;
      case "error":
        // Go leaves a pointer nil where JSON has null.
        if (member !== null) answers = true;
        break;
    }
  }
  const hasVersion = version === "2.0" || (versionOptional && version === undefined);
  const echo = id === undefined || isContainer(id) ? undefined : (idText ?? JSON.stringify(id));
  const tooLong = echo !== undefined && echo.length > idBytesMax;
  if (tooLong || !hasVersion) return { kind: "invalid", id: tooLong ? "null" : (echo ?? "null") };
  if (method !== "") {
    const list = params === undefined || params === null ? NO_PARAMS : params;
    const rawParams = Array.isArray(list) ? (list as readonly unknown[]) : namedParams(method, list);
    if (id === undefined) return { kind: "notification", method, params: rawParams };
    if (echo !== undefined) return { kind: "call", id: echo, method, params: rawParams };
  } else if (echo !== undefined && params === undefined && answers) return { kind: "response" };
  return { kind: "invalid", id: echo ?? "null" };
}

/** Methods whose callers send parameters by name, in wire order: alloy does so only for this one. */
const NAMED: Readonly<Record<string, readonly string[]>> = { anvil_reorg: ["depth", "tx_block_pairs"] };

function namedParams(method: string, params: unknown): RawParams {
  const names = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  if (names === undefined || typeof params !== "object") return undefined;
  return names.map((name) => (params as Readonly<Record<string, unknown>>)[name]);
}

function isContainer(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

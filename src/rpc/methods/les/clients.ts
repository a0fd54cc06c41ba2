import { NodeError } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/primitives/shape.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import { type ClientId, parseClientId } from "../../../heritage/les/client-id.ts";
import type { ClientInfo, ClientParameters, ServerInfo } from "../../../heritage/les/serving/light-clients.ts";
import {
  array,
  json,
  jsonKind,
  lenientInteger,
  optional,
  type ParamCodec,
  type ResultCodec,
  string,
  typeFault,
} from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";

/** No checkpoint oracle is configured. The text is geth's. */
export class NoCheckpointOracleError extends NodeError {
  readonly code = "LES_NO_CHECKPOINT_ORACLE";
  constructor() {
    super("checkpoint registrar is not activated");
  }
}

/** 64 hex digits with or without `0x`, or an enode URL. */
const clientId: ParamCodec<ClientId> = {
  schema: { title: "client id", type: "string" },
  decode(value, field) {
    if (typeof value !== "string") throw typeFault(jsonKind(value), "enode.ID", field);
    const id = parseClientId(value);
    if (id === undefined) throw new InvalidValueError("wrong length, want 64 hex chars");
    return id;
  },
};

const INT64_MAX = 2n ** 63n - 1n;
const INT64 = /^-?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19})$/;

/** A whole number of 64 bits with its sign: a JSON number up to 2^53 − 1, or a text in hex or decimal. */
const int64: ParamCodec<bigint> = {
  schema: { title: "int64", oneOf: [{ type: "integer" }, { type: "string" }] },
  decode(value, field) {
    if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value === "number") {
      // JSON numbers beyond 2^53 are rounded before they can be read.
      throw typeFault(`number ${value}`, "int64", field);
    }
    if (typeof value !== "string" || !INT64.test(value)) throw typeFault(jsonKind(value), "int64", field);
    const isNegative = value.startsWith("-");
    const size = BigInt(isNegative ? value.slice(1) : value);
    if (size > INT64_MAX) throw typeFault(`number ${value}`, "int64", field);
    return isNegative ? -size : size;
  },
};

/** An object of numbers by name; names and values are judged by the handler. */
export const clientParameters: ParamCodec<ClientParameters> = {
  schema: { title: "parameters", type: "object" },
  decode(value, field) {
    if (isJsonObject(value)) {
      return value as ClientParameters;
    }
    throw typeFault(jsonKind(value), "map[string]interface {}", field);
  },
};

/** Clients by id; `{}` marks the first one that did not fit. Balances are JSON numbers of up to 63 bits. */
const clientInfos: ResultCodec<readonly (readonly [ClientId, ClientInfo | undefined])[]> = {
  schema: { title: "clients by id", type: "object" },
  encode: (entries) => `{${entries.map(([id, info]) => `"${id}":${info ? infoJson(info) : "{}"}`).join(",")}}`,
};

function infoJson({ balance, balanceMeta, connected }: ClientInfo): string {
  const account = `"pricing/balance":${balance},"pricing/balanceMeta":${JSON.stringify(balanceMeta)},"priority":${balance > 0n}`;
  if (connected === undefined) return `{"isConnected":false,${account}}`;
  const { capacity, seconds, negativeBalance } = connected;
  return `{"isConnected":true,"capacity":${capacity},"connectionTime":${seconds},"pricing/negBalance":${negativeBalance},${account}}`;
}

const ZERO_ID = "0".repeat(64);

const ids = array(clientId, "[]enode.ID");
const balances: ResultCodec<{ readonly before: bigint; readonly after: bigint }> = {
  schema: { type: "array", items: { type: "integer" } },
  encode: ({ before, after }) => `[${before},${after}]`,
};
const serverInfoResult: ResultCodec<ServerInfo> = {
  schema: { title: "server info", type: "object" },
  encode: (info) => JSON.stringify(info),
};

/**
 * `les_serverInfo`: capacities of this node and of its clients, in cost units per millisecond; a unit is about a nanosecond of one thread.
 */
export const serverInfo = defineMethod({
  name: "les_serverInfo",
  params: {},
  result: serverInfoResult,
  handle: (_params, { les }) => les.serverInfo(),
});

/** `les_clientInfo`: connection, capacity and balances of clients by id; of all connected clients if `ids` is empty. */
export const clientInfo = defineMethod({
  name: "les_clientInfo",
  params: { ids },
  example: [[]],
  result: clientInfos,
  handle: (params, { les }) => les.clientInfo({ ids: params.ids }),
});

/**
 * `les_priorityClientInfo`: clients with a positive balance in the order of their ids, from `start` to before `stop`; a `stop` of zeros
 * means the end. `{}` marks the first client beyond `maxCount`.
 */
export const priorityClientInfo = defineMethod({
  name: "les_priorityClientInfo",
  params: { start: clientId, stop: clientId, maxCount: lenientInteger },
  example: [SAMPLE.zero, SAMPLE.zero, 100],
  result: clientInfos,
  handle: ({ start, stop, maxCount }, { les }) =>
    les.priorityClientInfo({
      start,
      stop: stop === (ZERO_ID as ClientId) ? undefined : stop,
      maxCount,
    }),
});

/** `les_addBalance`: adds `value`, which may be negative, to a client's balance; returns `[before, after]`. @throws BalanceOverflowError */
export const addBalance = defineMethod({
  name: "les_addBalance",
  params: { id: clientId, value: int64, meta: optional(string) },
  result: balances,
  private: true,
  handle: ({ id, value, meta }, { les }) => les.addBalance({ id, amount: value, meta }),
});

/**
 * `les_setClientParams`: sets capacity and prices of connected clients; of all of them if `ids` is empty.
 *
 * @throws ClientNotConnectedError, ClientParameterError, PriorityTooLowError
 */
export const setClientParams = defineMethod({
  name: "les_setClientParams",
  params: { ids, parameters: clientParameters },
  result: json,
  private: true,
  handle: (params, { les }) => nothing(les.setClientParameters({ ids: params.ids, parameters: params.parameters })),
});

/** `les_setDefaultParams`: sets the prices of clients that connect from now on. @throws ClientParameterError */
export const setDefaultParams = defineMethod({
  name: "les_setDefaultParams",
  params: { parameters: clientParameters },
  result: json,
  private: true,
  handle: ({ parameters }, { les }) => nothing(les.setDefaultParameters({ parameters })),
});

/** `les_setConnectedBias`: sets the head start, in nanoseconds, of a connected client over a client that wants its place. */
export const setConnectedBias = defineMethod({
  name: "les_setConnectedBias",
  params: { nanoseconds: lenientInteger },
  result: json,
  private: true,
  handle: ({ nanoseconds }, { les }) => nothing(les.setConnectedBias({ ns: nanoseconds })),
});

/** `debug_freezeClient`: rejects calls of the client for about a second, and until its buffer is an eighth full. */
export const freezeClient = defineMethod({
  name: "debug_freezeClient",
  params: { id: clientId },
  result: json,
  private: true,
  handle: ({ id }, { les }) => nothing(les.freeze({ id })),
});

function nothing(done: MaybePromise<void>) {
  return andThen(done, () => null);
}

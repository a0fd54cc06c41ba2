import { type ClientId, parseClientId } from "../../les/serving/client-id.ts";
import type { ClientInfo, ClientParameters } from "../../les/serving/light-clients.ts";
import { InvalidValueError } from "../dispatch/errors.ts";
import { jsonKind, type ParamCodec, type ResultCodec, typeFault } from "../params/codec.ts";

/** 64 hex digits with or without `0x`, or an enode URL. */
export const clientId: ParamCodec<ClientId> = {
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
export const int64: ParamCodec<bigint> = {
  schema: { title: "int64", oneOf: [{ type: "integer" }, { type: "string" }] },
  decode(value, field) {
    if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value === "number") {
      // JSON numbers beyond 2^53 are rounded before they can be read.
      throw typeFault(`number ${value}`, "int64", field);
    }
    if (typeof value !== "string" || !INT64.test(value))
      throw typeFault(jsonKind(value), "int64", field);
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
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as ClientParameters;
    }
    throw typeFault(jsonKind(value), "map[string]interface {}", field);
  },
};

/** Clients by id; `{}` marks the first one that did not fit. Balances are JSON numbers of up to 63 bits. */
export const clientInfos: ResultCodec<readonly (readonly [ClientId, ClientInfo | undefined])[]> = {
  schema: { title: "clients by id", type: "object" },
  encode: (entries) =>
    `{${entries.map(([id, info]) => `"${id}":${info ? infoJson(info) : "{}"}`).join(",")}}`,
};

function infoJson({ balance, balanceMeta, connected }: ClientInfo): string {
  const account = `"pricing/balance":${balance},"pricing/balanceMeta":${JSON.stringify(balanceMeta)},"priority":${balance > 0n}`;
  if (connected === undefined) return `{"isConnected":false,${account}}`;
  const { capacity, seconds, negativeBalance } = connected;
  return `{"isConnected":true,"capacity":${capacity},"connectionTime":${seconds},"pricing/negBalance":${negativeBalance},${account}}`;
}

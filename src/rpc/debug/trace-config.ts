import type { BlockForkField, TimeForkField } from "../../params/hardfork-at.ts";
import type { ConfigOverrides } from "../../tracing/trace-message.ts";
import { InvalidValueError } from "../dispatch/errors.ts";
import { blockOverrides, stateOverrides } from "../params/call-arguments.ts";
import {
  boolean,
  json,
  jsonInteger,
  jsonKind,
  object,
  type ParamCodec,
  quantityNumber,
  schemaOf,
  string,
  typeFault,
} from "../params/codec.ts";
import type { TraceRequest } from "../ports/execution.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** A span of time as Go writes it (`5s`, `300ms`, `1m30s`), in milliseconds. */
export const goDuration: ParamCodec<number> = {
  decode(value, field) {
    if (typeof value !== "string") throw typeFault(jsonKind(value), "string", field);
    const parts = [...value.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
    const isWhole = parts.map(([part]) => part).join("") === value && parts.length > 0;
    if (value !== "0" && !isWhole) {
      throw new InvalidValueError(`time: invalid duration ${JSON.stringify(value)}`);
    }
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0);
  },
};

const plainObject: ParamCodec<Readonly<Record<string, unknown>>> = {
  decode(value, field) {
    if (value === null) return {};
    if (typeof value === "object" && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
    throw typeFault(jsonKind(value), "map[string]interface {}", field);
  },
};

/** Block forks by number and time forks by second, as in a genesis file; other members are ignored. */
const configOverrides: ParamCodec<ConfigOverrides> = {
  decode(value, field) {
    const entries = Object.entries(plainObject.decode(value, field)).filter(
      ([name, at]) => /(?:Block|Time)$/.test(name) && Number.isSafeInteger(at),
    );
    return Object.fromEntries(entries) as Partial<Record<BlockForkField | TimeForkField, number>>;
  },
};

const members = {
  tracer: string,
  tracerConfig: plainObject,
  timeout: goDuration,
  enableMemory: boolean,
  disableMemory: boolean,
  disableStack: boolean,
  disableStorage: boolean,
  enableReturnData: boolean,
  limit: jsonInteger,
  overrides: configOverrides,
  /** How far geth went back for a state it had pruned; nothing is pruned here. */
  reexec: json,
} as const;

const traceConfigObject = object("TraceConfig", members, "tracers.TraceConfig");

/** The options of `debug_trace*`. */
export const traceConfig: ParamCodec<TraceRequest> = {
  ...schemaOf(traceConfigObject),
  decode: (value, field) => requestOf(traceConfigObject.decode(value, field)),
};

const traceCallConfigObject = object(
  "TraceCallConfig",
  { ...members, stateOverrides, blockOverrides, txIndex: quantityNumber },
  "tracers.TraceCallConfig",
);

/** The options of `debug_traceCall`: also overrides of state and block. */
export const traceCallConfig = {
  ...schemaOf(traceCallConfigObject),
  decode(value: unknown, field?: string) {
    const config = traceCallConfigObject.decode(value, field);
    const { stateOverrides, blockOverrides, txIndex } = config;
    return {
      ...requestOf(config),
      ...{ stateOverrides, blockOverrides },
      ...(txIndex !== undefined && { txIndex }),
    };
  },
};

function requestOf(config: ReturnType<typeof traceConfigObject.decode>): TraceRequest {
  const { timeout, overrides, tracer, tracerConfig, limit } = config;
  const { enableMemory, disableStack, disableStorage, enableReturnData } = config;
  return {
    ...(tracer !== undefined && { tracer }),
    ...(tracerConfig && { tracerConfig }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(overrides && { configOverrides: overrides }),
    ...(limit !== undefined && { limit }),
    ...(enableMemory && { enableMemory }),
    ...(disableStack && { disableStack }),
    ...(disableStorage && { disableStorage }),
    ...(enableReturnData && { enableReturnData }),
  };
}

import type { BlockForkField, TimeForkField } from "../../../base/params/hardforks.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { InvalidTracerError } from "../../../evm/tracing/trace-budget.ts";
import type { ConfigOverrides } from "../../../evm/tracing/trace-message.ts";
import { tracerConfigOf } from "../../../evm/tracing/tracer-config.ts";
import type { TraceRequest } from "../../ports/execution.ts";
import {
  boolean,
  hash,
  json,
  jsonInteger,
  jsonKind,
  object,
  type ParamCodec,
  quantityNumber,
  schemaOf,
  string,
  typeFault,
} from "../../transport/codec.ts";
import { blockOverrides, stateOverrides } from "../params/call-arguments.ts";

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
const goDuration: ParamCodec<number> = {
  decode(value, field) {
    if (typeof value !== "string") throw typeFault(jsonKind(value), "string", field);
    const parts = [...value.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
    const isWhole = parts.map(([part]) => part).join("") === value && parts.length > 0;
    // geth parses it in the method, after the arguments are decoded: a plain error.
    if (value !== "0" && !isWhole) throw new InvalidTracerError(durationFault(value));
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0);
  },
};

function durationFault(text: string): string {
  const quoted = JSON.stringify(text);
  const unit = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)([^\d.]+)/.exec(text)?.[1];
  if (unit !== undefined) return `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)
    ? `time: missing unit in duration ${quoted}`
    : `time: invalid duration ${quoted}`;
}

const plainObject: ParamCodec<Readonly<Record<string, unknown>>> = {
  decode(value, field) {
    if (value === null) return {};
    if (typeof value === "object" && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
    throw typeFault(jsonKind(value), "params.ChainConfig", field);
  },
};

/** Block forks by number and time forks by second, as in a genesis file; other members are ignored. */
const configOverrides: ParamCodec<ConfigOverrides> = {
  decode(value, field) {
    // Its name in geth's structure is a JSON tag, in lower case.
    const place = field?.replace(/\.Overrides$/, ".overrides");
    const entries = Object.entries(plainObject.decode(value, place)).filter(
      ([name, at]) => /(?:Block|Time)$/.test(name) && Number.isSafeInteger(at),
    );
    return Object.fromEntries(entries) as Partial<Record<BlockForkField | TimeForkField, number>>;
  },
};

/** `codec` for a member that geth has in a structure inside, which its errors name. */
function inside<T>(path: string, codec: ParamCodec<T>): ParamCodec<T> {
  return {
    ...schemaOf(codec),
    decode: (value, field) => codec.decode(value, field?.replace(/\.([^.]+)$/, `.${path}.$1`)),
  };
}

/** @param path of the structure that has these members */
const membersAt = (path: "" | "TraceConfig.") => {
  const own = <T>(codec: ParamCodec<T>) => (path === "" ? codec : inside("TraceConfig", codec));
  const ofLogger = <T>(codec: ParamCodec<T>) => inside(`${path}Config`, codec);
  return {
    tracer: own(string),
    tracerConfig: json,
    timeout: own(goDuration),
    enableMemory: ofLogger(boolean),
    disableMemory: json,
    disableStack: ofLogger(boolean),
    disableStorage: ofLogger(boolean),
    enableReturnData: ofLogger(boolean),
    limit: ofLogger(jsonInteger),
    overrides: ofLogger(configOverrides),
  } as const;
};

const traceConfigObject = object("TraceConfig", membersAt(""), "tracers.TraceConfig", "fields");

/** The options of `debug_trace*`. */
export const traceConfig: ParamCodec<TraceRequest> = {
  ...schemaOf(traceConfigObject),
  decode: (value, field) => requestOf(traceConfigObject.decode(value, field)),
};

const traceCallConfigObject = object(
  "TraceCallConfig",
  { ...membersAt("TraceConfig."), stateOverrides, blockOverrides, txIndex: quantityNumber },
  "tracers.TraceCallConfig",
  "fields",
);

/** The options of `debug_traceCall`: also overrides of state and block. */
export const traceCallConfig = {
  ...schemaOf(traceCallConfigObject),
  decode(value: unknown, field?: string) {
    const config = traceCallConfigObject.decode(value, field);
    const { stateOverrides, blockOverrides, txIndex } = config;
    return {
      ...requestOf(config),
      stateOverrides,
      blockOverrides,
      ...(txIndex !== undefined && { txIndex }),
    };
  },
};

function requestOf(config: ReturnType<typeof traceConfigObject.decode>): TraceRequest {
  const { timeout, overrides, tracer, tracerConfig, limit } = config;
  const { enableMemory, disableStack, disableStorage, enableReturnData } = config;
  return {
    ...(tracer !== undefined && { tracer }),
    ...(tracer !== undefined && { tracerConfig: tracerConfigOf(tracer, tracerConfig) }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(overrides && { configOverrides: overrides }),
    ...(limit !== undefined && { limit }),
    ...(enableMemory && { enableMemory }),
    ...(disableStack && { disableStack }),
    ...(disableStorage && { disableStorage }),
    ...(enableReturnData && { enableReturnData }),
  };
}

const standardTraceConfigObject = object(
  "StdTraceConfig",
  { ...membersAt(""), txHash: hash },
  "tracers.StdTraceConfig",
  "fields",
);

/** The options of `debug_standardTrace*ToFile`: also which transaction. */
export const standardTraceConfig: ParamCodec<TraceRequest & { readonly txHash?: Hash }> = {
  ...schemaOf(standardTraceConfigObject),
  decode(value, field) {
    const config = standardTraceConfigObject.decode(value, field);
    const { txHash } = config;
    return { ...requestOf(config), ...(txHash !== undefined && { txHash }) };
  },
};

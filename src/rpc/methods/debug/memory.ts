import { andThen } from "../../../base/threads/maybe-promise.ts";
import { json, jsonInteger, jsonKind, nothing, type ParamCodec, rawJson, typeFault } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/**
 * `debug_memStats`: memory of the process in the fields of Go's `runtime.MemStats`. Fields V8 has no counterpart for are 0; `v8` and
 * `process` hold V8's and Node's own figures.
 */
export const memStats = defineMethod({
  name: "debug_memStats",
  params: {},
  result: json,
  handle: (_params, { runtime }) => runtime.memoryStats(),
});

/** Go's zero time. */
const NEVER = "0001-01-01T00:00:00Z";

/** `debug_gcStats`: garbage collections in the fields of Go's `debug.GCStats`: pauses in nanoseconds, newest first. */
export const gcStats = defineMethod({
  name: "debug_gcStats",
  params: {},
  result: json,
  handle: (_params, { runtime }) =>
    andThen(runtime.gcStats(), ({ lastGcMs, count, pauseTotal, pauses, pauseEndsMs }) => ({
      LastGC: lastGcMs === undefined ? NEVER : timeText(lastGcMs),
      NumGC: count,
      PauseTotal: pauseTotal,
      Pause: pauses,
      PauseEnd: pauseEndsMs.map(timeText),
      PauseQuantiles: null,
    })),
});

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** `debug_freeOSMemory`: collects garbage now. */
export const freeOsMemory = defineMethod({
  name: "debug_freeOSMemory",
  params: {},
  result: nothing,
  private: true,
  heavy: true,
  handle: (_params, { runtime }) => runtime.collectGarbage(),
});

/**
 * `debug_setGCPercent`: sets the percentage the heap may grow before the next collection; 100 is V8's default. Returns the previous value.
 */
export const setGcPercent = defineMethod({
  name: "debug_setGCPercent",
  params: { percent: jsonInteger },
  result: jsonInteger,
  private: true,
  handle: ({ percent }, { runtime }) => runtime.setGcPercent({ percent }),
});

/** Go's number for no limit, which exceeds JavaScript's safe integers. */
const NO_LIMIT = 2n ** 63n - 1n;

const bytes: ParamCodec<number> = {
  schema: { type: "integer" },
  decode(value, field) {
    if (typeof value === "number" && Number.isInteger(value) && value <= Number(NO_LIMIT)) {
      return value;
    }
    throw typeFault(typeof value === "number" ? `number ${value}` : jsonKind(value), "int64", field);
  },
};

/**
 * `debug_setMemoryLimit`: sets the heap size in bytes above which garbage is collected at once. Returns the previous value; a negative
 * limit only reads it.
 */
export const setMemoryLimit = defineMethod({
  name: "debug_setMemoryLimit",
  params: { limit: bytes },
  result: rawJson,
  private: true,
  handle: ({ limit }, { runtime }) => {
    const next = limit >= Number(NO_LIMIT) ? Infinity : limit;
    return andThen(runtime.setMemoryLimit({ bytes: limit < 0 ? undefined : next }), (before) =>
      before === Infinity ? NO_LIMIT.toString() : String(before),
    );
  },
});

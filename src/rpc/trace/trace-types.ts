import { PARITY_TRACE_TYPES, type ParityTraceType } from "../../tracing/parity/parity-tracer.ts";
import type { TracerConfig } from "../../tracing/tracer-config.ts";
import { InvalidValueError } from "../dispatch/errors.ts";
import { array, type ParamCodec, string } from "../params/codec.ts";
import type { TraceRequest } from "../ports/execution.ts";

const traceType: ParamCodec<ParityTraceType> = {
  schema: { type: "string", enum: PARITY_TRACE_TYPES },
  decode(value, field) {
    const name = string.decode(value, field);
    const type = PARITY_TRACE_TYPES.find((known) => known === name);
    if (!type) throw new InvalidValueError(`unknown type of trace ${JSON.stringify(name)}`);
    return type;
  },
};

/** Which parts of a trace to make: any of `trace`, `vmTrace` and `stateDiff`. */
export const traceTypes = array(traceType, "[]string");

/** The flat list of frames, each with its position in the chain. */
export const LOCALIZED: TraceRequest = { tracer: "parityTracer" };

/** `{output, stateDiff, trace, vmTrace}` with the parts asked for. */
export function replayRequest(types: readonly ParityTraceType[]): TraceRequest & {
  readonly tracerConfig: TracerConfig;
} {
  return { tracer: "parityTracer", tracerConfig: { types } };
}

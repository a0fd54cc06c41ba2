import { textString } from "../../../evm/tracing/json-writer.ts";
import { PARITY_TRACE_TYPES, type ParityTraceType } from "../../../evm/tracing/parity/parity-tracer.ts";
import { NotTraceableError } from "../../../evm/tracing/trace-budget.ts";
import type { TracerConfig } from "../../../evm/tracing/tracer-config.ts";
import { blockSelector } from "../../ports/block-selector.ts";
import type { TraceRequest } from "../../ports/execution.ts";
import {
  array,
  data,
  hash,
  optional,
  type ParamCodec,
  quantityNumber,
  rawJson,
  string,
} from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";

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
const LOCALIZED: TraceRequest = { tracer: "parityTracer" };

/** `{output, stateDiff, trace, vmTrace}` with the requested parts. */
export function replayRequest(types: readonly ParityTraceType[]): TraceRequest & {
  readonly tracerConfig: TracerConfig;
} {
  return { tracer: "parityTracer", tracerConfig: { types } };
}

/**
 * `trace_transaction`: every call frame of a mined transaction, in execution order; null for an unknown transaction.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const traceTransaction = defineMethod({
  name: "trace_transaction",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: rawJson,
  heavy: true,
  async handle({ transactionHash }, { chain, execution }, context) {
    if (!(await chain.transaction({ hash: transactionHash }))) return "null";
    return execution.traceTransaction({
      hash: transactionHash,
      request: LOCALIZED,
      cancel: context,
    });
  },
});

/**
 * `trace_get`: the call frame of a mined transaction at a `traceAddress`; an empty list is the outermost frame. null if there is no such
 * frame.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const traceGet = defineMethod({
  name: "trace_get",
  params: { transactionHash: hash, traceAddress: array(quantityNumber, "[]hexutil.Uint64") },
  example: [SAMPLE.hash, ["0x0"]],
  result: rawJson,
  heavy: true,
  async handle({ transactionHash, traceAddress }, { chain, execution }, context) {
    if (!(await chain.transaction({ hash: transactionHash }))) return "null";
    const text = await execution.traceTransaction({
      hash: transactionHash,
      request: LOCALIZED,
      cancel: context,
    });
    const traces = JSON.parse(textString(text)) as readonly {
      readonly traceAddress: readonly number[];
    }[];
    const wanted = traceAddress.join();
    return JSON.stringify(traces.find((trace) => trace.traceAddress.join() === wanted) ?? null);
  },
});

/**
 * `trace_replayTransaction`: re-executes a mined transaction and returns the parts of its trace named in `types`.
 *
 * @throws NotTraceableError for an unknown transaction, TracingTimeoutError, TraceTooLargeError
 */
export const replayTransaction = defineMethod({
  name: "trace_replayTransaction",
  params: { transactionHash: hash, types: traceTypes },
  example: [SAMPLE.hash, ["stateDiff"]],
  result: rawJson,
  heavy: true,
  async handle({ transactionHash, types }, { chain, execution }, context) {
    if (!(await chain.transaction({ hash: transactionHash }))) {
      throw new NotTraceableError("transaction not found");
    }
    return execution.traceTransaction({
      hash: transactionHash,
      request: replayRequest(types),
      cancel: context,
    });
  },
});

/**
 * `trace_rawTransaction`: traces a signed transaction after `block` without sending it.
 *
 * @throws TracingFailedError where it is not valid there, the decoder's rejections, UnknownBlockError, TracingTimeoutError
 */
export const traceRawTransaction = defineMethod({
  name: "trace_rawTransaction",
  params: { raw: data, types: traceTypes, block: optional(blockSelector, "latest") },
  example: [SAMPLE.rawTransaction, ["trace"], "latest"],
  result: rawJson,
  heavy: true,
  handle: ({ raw, types, block }, { execution }, context) =>
    execution.traceRawTransaction({
      raw,
      at: block,
      request: replayRequest(types),
      cancel: context,
    }),
});

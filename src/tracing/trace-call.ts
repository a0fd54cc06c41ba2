import {
  type CallModules,
  type CallOptions,
  type CallTarget,
  prepareCall,
} from "../execution/call/call.ts";
import type { CallArguments } from "../execution/call/call-arguments.ts";
import { orTracingFailed } from "./errors.ts";
import { type TraceOptions, traceMessage } from "./trace-message.ts";
import type { TraceText } from "./trace-text.ts";

/**
 * debug_traceCall: the trace of a call that is no transaction; nothing is stored.
 * @throws as traceMessage, InvalidCallArgumentsError, InvalidStateOverridesError, TracingFailedError
 */
export function traceCall(
  args: CallArguments,
  target: CallTarget,
  modules: CallModules,
  options: TraceOptions & Omit<CallOptions, "tracer" | "timeoutMs">,
): TraceText {
  const { tracer: _name, tracers: _tracers, budget, ...callOptions } = options;
  const prepared = prepareCall(args, target, modules, {
    ...callOptions,
    timeoutMs: budget.timeoutMs,
  });
  const { message, block, precompiles, state } = prepared;
  const traced = { message, block, precompiles, state, logsBefore: 0 };
  return traceMessage(traced, options, (tracer, own) =>
    orTracingFailed(() => prepared.run(message, { tracer, state: own })),
  ).text();
}

import {
  type CallModules,
  type CallOptions,
  type CallTarget,
  prepareCall,
} from "../../execution/call/call.ts";
import type { CallArguments } from "../../execution/call/call-arguments.ts";
import { replayChanges } from "../../state/state-changes.ts";
import { createWorldState } from "../../state/world-state.ts";
import { orTracingFailed } from "../errors.ts";
import { type TraceOptions, traceMessage } from "../trace-message.ts";
import type { TraceText } from "../trace-text.ts";
import type { TracerConfig } from "../transaction-tracer.ts";

/**
 * The trace of each call; every call sees the effects of those before it, and nothing is stored.
 * @throws as traceMessage, InvalidCallArgumentsError, TracingFailedError
 */
export function traceCalls(
  calls: readonly { readonly args: CallArguments; readonly tracerConfig: TracerConfig }[],
  target: CallTarget,
  modules: CallModules,
  options: TraceOptions & Pick<CallOptions, "gasCap">,
): readonly TraceText[] {
  const { tracer: _name, budget, ...callOptions } = options;
  const state = createWorldState(target.state);
  return calls.map(({ args, tracerConfig }) => {
    const timeoutMs = Math.max(0, budget.deadlineMs - performance.now());
    const before = { ...target, state: state.asReader() };
    const prepared = prepareCall(args, before, modules, { ...callOptions, timeoutMs });
    const { message, block, precompiles } = prepared;
    const traced = { message, block, precompiles, state: before.state, logsBefore: 0 };
    const run = traceMessage(traced, { ...options, tracerConfig }, (tracer, own) =>
      orTracingFailed(() => prepared.run(message, { tracer, state: own })),
    );
    replayChanges(run.changes(), state);
    return run.text();
  });
}

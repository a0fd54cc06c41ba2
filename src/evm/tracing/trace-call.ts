import { type CallModules, type CallOptions, type CallTarget, prepareCall } from "../execution/call/call.ts";
import type { CallArguments } from "../execution/call/call-arguments.ts";
import { BUNDLE_SECONDS, type CallArgumentsBundle } from "../execution/call/call-many.ts";
import { applyStateOverrides, type BlockOverrides } from "../execution/call/overrides.ts";
import { replayChanges } from "../state/state-changes.ts";
import { createWorldState } from "../state/world-state.ts";
import type { TraceText } from "./json-writer.ts";
import { CountedBudget, orTracingFailed } from "./trace-budget.ts";
import { type TraceOptions, traceMessage } from "./trace-message.ts";

/**
 * debug_traceCall: the trace of a call, which is not stored.
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
    showsBlock: true,
    timeoutMs: budget.timeoutMs,
  });
  const { message, block, precompiles, state } = prepared;
  const traced = { message, block, precompiles, state, logsBefore: 0, budget: new CountedBudget(budget) };
  return traceMessage(traced, options, (tracer, own) =>
    orTracingFailed(() => prepared.run(message, { tracer, state: own })),
  ).text();
}

/**
 * debug_traceCallMany: the trace of each call of each bundle. Calls see the effects of those before them; a bundle is in a
 * block one higher and twelve seconds later than the one before it, as in eth_callMany. Nothing is stored.
 * @throws as traceMessage, InvalidCallArgumentsError, InvalidStateOverridesError, InvalidBlockOverridesError, TracingFailedError
 */
export function traceBundles(
  bundles: readonly CallArgumentsBundle[],
  target: CallTarget,
  modules: CallModules,
  options: TraceOptions & Pick<CallOptions, "gasCap" | "stateOverrides" | "blockOverrides">,
): readonly (readonly TraceText[])[] {
  const { tracer: _name, tracers: _tracers, budget, ...traceOptions } = options;
  const { stateOverrides, blockOverrides: ofAll, ...callOptions } = traceOptions;
  const state = createWorldState(target.state);
  // A moved precompile would be where it goes for one call only, so none can be moved.
  if (stateOverrides) applyStateOverrides(stateOverrides, state, new Map());
  const { number, timestamp } = target.header;
  return bundles.map(({ calls, blockOverrides: own }, i) => {
    const blockOverrides: BlockOverrides = {
      number: BigInt(number + i),
      time: BigInt(timestamp + i * BUNDLE_SECONDS),
      ...ofAll,
      ...own,
    };
    return calls.map((args) => {
      const timeoutMs = Math.max(0, budget.deadlineMs - performance.now());
      const before = { ...target, state: state.asReader() };
      const prepared = prepareCall(args, before, modules, {
        ...callOptions,
        blockOverrides,
        showsBlock: true,
        timeoutMs,
      });
      const { message, block, precompiles } = prepared;
      const traced = {
        message,
        block,
        precompiles,
        state: before.state,
        logsBefore: 0,
        budget: new CountedBudget(budget),
      };
      const run = traceMessage(traced, options, (tracer, child) =>
        orTracingFailed(() => prepared.run(message, { tracer, state: child })),
      );
      replayChanges(run.changes(), state);
      return run.text();
    });
  });
}

import { decodePooledTransaction } from "../../base/types/transaction/decode.ts";
import { recoverSender } from "../../base/types/transaction/sender.ts";
import { blockContextOf, fullGasPool } from "../execution/block-context.ts";
import {
  type CallModules,
  type CallOptions,
  type CallTarget,
  type PreparedCall,
  prepareCall,
} from "../execution/call/call.ts";
import type { CallArguments } from "../execution/call/call-arguments.ts";
import { BUNDLE_SECONDS, type CallArgumentsBundle } from "../execution/call/call-many.ts";
import { applyStateOverrides, type BlockOverrides } from "../execution/call/overrides.ts";
import { applyMessage } from "../execution/transaction/apply-message.ts";
import { messageFromTransaction } from "../execution/transaction/message.ts";
import { precompilesAt } from "../machine/precompiles/index.ts";
import { replayChanges } from "../state/state-changes.ts";
import { createWorldState, type WorldState } from "../state/world-state.ts";
import type { TraceText } from "./json-writer.ts";
import { CountedBudget, orTracingFailed } from "./trace-budget.ts";
import { type TraceOptions, traceMessage } from "./trace-message.ts";
import type { TracerConfig } from "./tracer-config.ts";

/** What tracing a call needs besides the call. */
type CallTracing = TraceOptions & Pick<CallOptions, "gasCap" | "stateOverrides" | "blockOverrides">;

/** Traces a prepared call on a state of its own. */
function tracePrepared({ message, block, precompiles, state, run }: PreparedCall, options: TraceOptions) {
  const traced = { message, block, precompiles, state, logsBefore: 0, budget: new CountedBudget(options.budget) };
  return traceMessage(traced, options, (tracer, own) => orTracingFailed(() => run(message, { tracer, state: own })));
}

/**
 * The traces of calls each of which sees the effects of those before it. Nothing is stored.
 * @param world the state before the first call, which the calls change
 * @param bundle options of the calls besides those of the request
 */
function traceInTurn(
  calls: readonly { readonly args: CallArguments; readonly tracerConfig?: TracerConfig }[],
  world: WorldState,
  target: CallTarget,
  modules: CallModules,
  options: CallTracing,
  bundle: CallOptions = {},
): readonly TraceText[] {
  const { tracer: _name, tracers: _tracers, budget, stateOverrides: _applied, ...callOptions } = options;
  return calls.map(({ args, ...own }) => {
    const timeoutMs = Math.max(0, budget.deadlineMs - performance.now());
    const before = { ...target, state: world.asReader() };
    const prepared = prepareCall(args, before, modules, { ...callOptions, ...bundle, timeoutMs });
    const run = tracePrepared(prepared, { ...options, ...own });
    replayChanges(run.changes(), world);
    return run.text();
  });
}

/**
 * debug_traceCall: the trace of a call, which is not stored.
 * @throws as traceMessage, InvalidCallArgumentsError, InvalidStateOverridesError, TracingFailedError
 */
export function traceCall(
  args: CallArguments,
  target: CallTarget,
  modules: CallModules,
  options: CallTracing,
): TraceText {
  const { tracer: _name, tracers: _tracers, budget, ...callOptions } = options;
  const prepared = prepareCall(args, target, modules, {
    ...callOptions,
    showsBlock: true,
    timeoutMs: budget.timeoutMs,
  });
  return tracePrepared(prepared, options).text();
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
  options: CallTracing,
): readonly (readonly TraceText[])[] {
  const { stateOverrides, blockOverrides: ofAll } = options;
  const world = createWorldState(target.state);
  // A moved precompile would be where it goes for one call only, so none can be moved.
  if (stateOverrides) applyStateOverrides(stateOverrides, world, new Map());
  const { number, timestamp } = target.header;
  return bundles.map(({ calls, blockOverrides: own }, i) => {
    const blockOverrides: BlockOverrides = {
      number: BigInt(number + i),
      time: BigInt(timestamp + i * BUNDLE_SECONDS),
      ...ofAll,
      ...own,
    };
    const inBundle = calls.map((args) => ({ args }));
    return traceInTurn(inBundle, world, target, modules, options, { blockOverrides, showsBlock: true });
  });
}

/**
 * The trace of each call; every call sees the effects of those before it, and nothing is stored.
 * @throws as traceMessage, InvalidCallArgumentsError, TracingFailedError
 */
export function traceCalls(
  calls: readonly { readonly args: CallArguments; readonly tracerConfig: TracerConfig }[],
  target: CallTarget,
  modules: CallModules,
  options: CallTracing,
): readonly TraceText[] {
  return traceInTurn(calls, createWorldState(target.state), target, modules, options);
}

/**
 * The trace of a signed transaction as if it came next after `target`'s block, nothing is stored.
 * @throws as traceMessage, TracingFailedError where the transaction is not valid there, and the decoder's rejections
 */
export function traceRawTransaction(
  raw: Uint8Array,
  { header, blockHash, state }: CallTarget,
  { config, evm }: CallModules,
  options: TraceOptions,
): TraceText {
  const { budget, memoryBytesMax } = options;
  const block = blockContextOf(header, config, blockHash);
  const { tx } = decodePooledTransaction(raw);
  const sender = orTracingFailed(() => recoverSender(tx, block.hardfork));
  const message = messageFromTransaction(tx, sender, block.baseFeePerGas);
  const traced = {
    message,
    block,
    state,
    logsBefore: 0,
    precompiles: precompilesAt(block.hardfork),
    budget: new CountedBudget(budget),
  };
  const gasPool = fullGasPool(header.gasLimit, 2n ** 64n);
  return traceMessage(traced, options, (tracer, own) =>
    orTracingFailed(() =>
      applyMessage(
        message,
        { evm, block, state: own, gasPool },
        {
          tracer,
          deadlineMs: budget.deadlineMs,
          ...(memoryBytesMax !== undefined && { memoryBytesMax }),
        },
      ),
    ),
  ).text();
}

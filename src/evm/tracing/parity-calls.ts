import { decodePooledTransaction } from "../../base/types/transaction/decode.ts";
import { recoverSender } from "../../base/types/transaction/sender.ts";
import { blockContextOf, fullGasPool } from "../execution/block-context.ts";
import { type CallModules, type CallOptions, type CallTarget, prepareCall } from "../execution/call/call.ts";
import type { CallArguments } from "../execution/call/call-arguments.ts";
import { applyMessage } from "../execution/transaction/apply-message.ts";
import { messageFromTransaction } from "../execution/transaction/message.ts";
import { precompilesAt } from "../machine/precompiles/index.ts";
import { replayChanges } from "../state/state-changes.ts";
import { createWorldState } from "../state/world-state.ts";
import type { TraceText } from "./json-writer.ts";
import { CountedBudget, orTracingFailed } from "./trace-budget.ts";
import { type TraceOptions, traceMessage } from "./trace-message.ts";
import type { TracerConfig } from "./tracer-config.ts";

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
    const traced = {
      message,
      block,
      precompiles,
      state: before.state,
      logsBefore: 0,
      budget: new CountedBudget(budget),
    };
    const run = traceMessage(traced, { ...options, tracerConfig }, (tracer, own) =>
      orTracingFailed(() => prepared.run(message, { tracer, state: own })),
    );
    replayChanges(run.changes(), state);
    return run.text();
  });
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

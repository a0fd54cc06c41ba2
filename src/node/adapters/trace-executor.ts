import type { CallTarget } from "../../execution/call/call.ts";
import type { TraceExecutor, TraceRequest } from "../../rpc/ports/execution.ts";
import { NotTraceableError } from "../../tracing/errors.ts";
import { type BlockToTrace, beginReplay, traceBlock } from "../../tracing/trace-block.ts";
import { createTraceBudget, type TraceBudget } from "../../tracing/trace-budget.ts";
import { traceCall } from "../../tracing/trace-call.ts";
import type { TraceOptions } from "../../tracing/trace-message.ts";
import type { Block, ExecutedBlock } from "../../types/block.ts";
import type { ChainCore } from "../compose-chain.ts";
import { argumentsOf, blockOverridesOf, stateOverridesOf } from "./call-conversion.ts";
import type { CallLimits } from "./call-executor.ts";

/** What one request for traces may take. */
export type TraceLimits = {
  /** Where the caller names no time. */
  readonly timeoutMs: number;
  /** The most a caller may name. */
  readonly timeoutMsMax: number;
  /** Bytes of all its traces together. */
  readonly bytesMax: number;
};

/** Traces on this thread, over the chain of `core`. */
export function createTraceExecutor(
  { gasCap, memoryBytesMax }: CallLimits,
  limits: TraceLimits,
  { chain, execution }: Pick<ChainCore, "chain" | "execution">,
): TraceExecutor {
  const blockHash = (number: number) => chain.hashAt(number);

  const optionsOf = (request: TraceRequest): TraceOptions => ({
    ...request,
    budget: createTraceBudget({
      timeoutMs: Math.min(request.timeoutMs ?? limits.timeoutMs, limits.timeoutMsMax),
      charsMax: limits.bytesMax,
    }),
    memoryBytesMax,
  });

  const targetOf = (block: Block, senders?: ExecutedBlock["senders"]): BlockToTrace => ({
    block,
    ...(senders && { senders }),
    parentState: chain.stateAt(block.header.number - 1),
    blockHash,
  });

  /** The block run up to, and without, transaction `index`. */
  function replayTo({ block, senders }: ExecutedBlock, index: number, budget: TraceBudget) {
    if (block.header.number === 0) throw new NotTraceableError("genesis is not traceable");
    const replay = beginReplay(targetOf(block, senders), execution);
    for (let i = 0; i < index; i++) {
      budget.assertInTime();
      replay.skip();
    }
    return replay;
  }

  return {
    traceTransaction(executed, index, request) {
      const options = optionsOf(request);
      return replayTo(executed, index, options.budget).trace(options);
    },
    traceBlock: (block, senders, request) =>
      traceBlock(targetOf(block, senders), optionsOf(request), execution),
    traceCall(call, { executed, state }, request) {
      const { stateOverrides, blockOverrides, txIndex, signal: _signal, ...rest } = request;
      const { transactions } = executed.block;
      if (txIndex !== undefined && txIndex >= transactions.length) {
        throw new NotTraceableError(
          `transaction index ${txIndex} out of range for block ${executed.block.hash}`,
        );
      }
      const options = optionsOf(rest);
      const replayed = () => replayTo(executed, txIndex!, options.budget).state.asReader();
      const target: CallTarget = {
        state: txIndex === undefined ? state : replayed(),
        header: executed.block.header,
        blockHash,
      };
      const { configOverrides } = rest;
      const config = { ...execution.config, ...configOverrides };
      return traceCall(
        argumentsOf(call),
        target,
        { ...execution, config },
        {
          ...options,
          gasCap,
          ...(stateOverrides && { stateOverrides: stateOverridesOf(stateOverrides) }),
          ...(blockOverrides && { blockOverrides: blockOverridesOf(blockOverrides) }),
        },
      );
    },
  };
}

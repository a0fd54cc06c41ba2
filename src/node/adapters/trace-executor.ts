import type { CallTarget } from "../../execution/call/call.ts";
import type { TraceExecutor, TraceRequest } from "../../rpc/ports/execution.ts";
import { NotTraceableError } from "../../tracing/errors.ts";
import { type BlockToTrace, beginReplay, traceBlock } from "../../tracing/trace-block.ts";
import { traceCall } from "../../tracing/trace-call.ts";
import type { TraceOptions } from "../../tracing/trace-message.ts";
import type { Block, ExecutedBlock } from "../../types/block.ts";
import type { ChainCore } from "../compose-chain.ts";
import { argumentsOf, blockOverridesOf, stateOverridesOf } from "./call-conversion.ts";
import type { CallLimits } from "./call-executor.ts";

/** geth's for one transaction, where the caller names none. */
const TIMEOUT_MS = 5_000;
/** No caller gets more: a trace holds up everyone else on this thread. */
const TIMEOUT_MS_MAX = 60_000;

/** Traces on this thread, over the chain of `core`. */
export function createTraceExecutor(
  { gasCap, memoryBytesMax }: CallLimits,
  { chain, execution }: Pick<ChainCore, "chain" | "execution">,
): TraceExecutor {
  const blockHash = (number: number) => chain.hashAt(number);

  const optionsOf = (request: TraceRequest): TraceOptions => ({
    ...request,
    timeoutMs: Math.min(request.timeoutMs ?? TIMEOUT_MS, TIMEOUT_MS_MAX),
    memoryBytesMax,
  });

  const targetOf = (block: Block, senders?: ExecutedBlock["senders"]): BlockToTrace => ({
    block,
    ...(senders && { senders }),
    parentState: chain.stateAt(block.header.number - 1),
    blockHash,
  });

  /** The block run up to, and without, transaction `index`. */
  function replayTo({ block, senders }: ExecutedBlock, index: number) {
    if (block.header.number === 0) throw new NotTraceableError("genesis is not traceable");
    const replay = beginReplay(targetOf(block, senders), execution);
    for (let i = 0; i < index; i++) replay.skip();
    return replay;
  }

  return {
    traceTransaction: (executed, index, request) =>
      replayTo(executed, index).trace(optionsOf(request)),
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
      const target: CallTarget = {
        state: txIndex === undefined ? state : replayTo(executed, txIndex).state.asReader(),
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
          ...optionsOf(rest),
          gasCap,
          ...(stateOverrides && { stateOverrides: stateOverridesOf(stateOverrides) }),
          ...(blockOverrides && { blockOverrides: blockOverridesOf(blockOverrides) }),
        },
      );
    },
  };
}

import type { CallTarget } from "../../execution/call/call.ts";
import type { ExecutionPort, TraceRequest, TransactionTrace } from "../../rpc/ports/execution.ts";
import { resolveState } from "../../rpc/ports/local/resolve.ts";
import { NotTraceableError } from "../../tracing/errors.ts";
import { type BlockToTrace, beginReplay, traceBlock } from "../../tracing/trace-block.ts";
import { traceCall } from "../../tracing/trace-call.ts";
import type { TraceOptions } from "../../tracing/trace-message.ts";
import type { Block, ExecutedBlock } from "../../types/block.ts";
import { decodeBlock } from "../../types/block-codec.ts";
import type { ChainCore } from "../compose-chain.ts";
import type { CallLimits } from "./call-limits.ts";

/** geth's default for one transaction. */
const TIMEOUT_MS = 5_000;
/** No caller gets more: a trace blocks every other caller of this thread. */
const TIMEOUT_MS_MAX = 60_000;

type TraceMethods = Pick<
  ExecutionPort,
  "traceTransaction" | "traceBlock" | "traceRawBlock" | "traceCall"
>;

/** The tracing part of `ExecutionPort`, on this thread. */
export function createTraceMethods(
  { gasCap, memoryBytesMax }: Pick<CallLimits, "gasCap" | "memoryBytesMax">,
  { reader, execution }: Pick<ChainCore, "reader" | "execution">,
): TraceMethods {
  const blockHash = (number: number) => reader.hashAt(number);

  const optionsOf = (request: TraceRequest): TraceOptions => ({
    ...request,
    timeoutMs: Math.min(request.timeoutMs ?? TIMEOUT_MS, TIMEOUT_MS_MAX),
    memoryBytesMax,
  });

  function targetOf(block: Block, senders?: ExecutedBlock["senders"]): BlockToTrace {
    const { number } = block.header;
    if (number === 0) throw new NotTraceableError("genesis is not traceable");
    return {
      block,
      ...(senders && { senders }),
      parentState: reader.stateAt(number - 1),
      blockHash,
    };
  }

  /** The block executed up to transaction `index`, which is not. */
  function replayTo({ block, senders }: ExecutedBlock, index: number) {
    const replay = beginReplay(targetOf(block, senders), execution);
    for (let i = 0; i < index; i++) replay.skip();
    return replay;
  }

  function tracesOf(target: BlockToTrace, request: TraceRequest): TransactionTrace[] {
    const results = traceBlock(target, optionsOf(request), execution);
    return target.block.transactions.map(({ hash }, i) => ({ txHash: hash, result: results[i]! }));
  }

  return {
    traceTransaction(hash, request) {
      const found = reader.transaction(hash);
      if (!found) throw new NotTraceableError("transaction not found");
      return replayTo(found.executed, found.index).trace(optionsOf(request));
    },
    traceBlock(at, request) {
      const executed = typeof at === "number" ? reader.blockByNumber(at) : reader.blockByHash(at);
      if (!executed) {
        throw new NotTraceableError(`block ${typeof at === "number" ? `#${at}` : at} not found`);
      }
      return tracesOf(targetOf(executed.block, executed.senders), request);
    },
    traceRawBlock(rlp, request) {
      const block = decode(rlp);
      const { parentHash, number } = block.header;
      if (number > 0 && !reader.blockByHash(parentHash)) {
        throw new NotTraceableError(`parent ${parentHash} not found`);
      }
      return tracesOf(targetOf(block), request);
    },
    traceCall(args, at, request) {
      const { executed, state } = resolveState(reader, at);
      const { stateOverrides, blockOverrides, txIndex, ...rest } = request;
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
      const config = { ...execution.config, ...rest.configOverrides };
      const options = {
        ...optionsOf(rest),
        gasCap,
        ...(stateOverrides && { stateOverrides }),
        ...(blockOverrides && { blockOverrides }),
      };
      return traceCall(args, target, { ...execution, config }, options);
    },
  };
}

function decode(rlp: Uint8Array): Block {
  try {
    return decodeBlock(rlp);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NotTraceableError(`could not decode block: ${reason}`, {}, { cause });
  }
}

import type { Hash } from "../../base/primitives/hash.ts";
import type { Block, ExecutedBlock } from "../../base/types/block.ts";
import { decodeBlock } from "../../base/types/block-codec.ts";
import type { CallTarget } from "../../evm/execution/call/call.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { FrameTables } from "../../evm/tracing/call-frames.ts";
import { JsonWriter, type TraceText } from "../../evm/tracing/json-writer.ts";
import { createTracers } from "../../evm/tracing/native-tracers.ts";
import { BlockFrames } from "../../evm/tracing/parity/parity-tracer.ts";
import { createJsonLogger } from "../../evm/tracing/struct-logger.ts";
import {
  BlockReplay,
  type BlockToTrace,
  traceBlock,
  writeBlockFrames,
  writeBlockTraces,
} from "../../evm/tracing/trace-block.ts";
import { createTraceBudget, NotTraceableError, type TraceBudget } from "../../evm/tracing/trace-budget.ts";
import { traceBundles, traceCall, traceCalls, traceRawTransaction } from "../../evm/tracing/trace-call.ts";
import type { TraceOptions } from "../../evm/tracing/trace-message.ts";
import type { TracerFactory } from "../../evm/tracing/tracer-config.ts";
import type { BlockSelector } from "../../rpc/ports/block-selector.ts";
import type { CallOverrides, TraceRequest } from "../../rpc/ports/execution.ts";
import type { ChainParts } from "./parts.ts";
import { findBlock, findHeader, resolveState } from "./resolve.ts";
import type { CallLimits, LimitedReads } from "./rpc-settings.ts";

type TraceMethods = Pick<
  LimitedReads,
  | "traceTransaction"
  | "traceBlock"
  | "traceBlockText"
  | "traceBlockFrames"
  | "traceRawBlock"
  | "traceCall"
  | "traceBundles"
  | "traceCalls"
  | "traceRawTransaction"
>;

/** Block texts up to this size become a string without a separate buffer, which V8 would count as external memory. */
const SCRATCH_BYTES = 1 << 20;

/** The tracing methods of `ExecutionPort`, on this thread. @param own limits of calls that name none */
export function createTraceMethods(
  own: CallLimits,
  { reader, execution }: Pick<ChainParts, "reader" | "execution">,
): TraceMethods {
  const blockHash = (number: number) => reader.blockHash(number);

  const tables = new FrameTables();
  const tracers = createTracers({ scriptMemoryBytesMax: own.trace.scriptMemoryBytesMax }, tables);
  function optionsOf(request: TraceRequest, { memoryBytesMax, trace }: CallLimits): TraceOptions {
    const budget = createTraceBudget({
      timeoutMs: Math.min(request.timeoutMs ?? trace.timeoutMs, trace.timeoutMsMax),
      charsMax: trace.bytesMax,
    });
    const factory: TracerFactory = (_config, traced) => createJsonLogger(request, traced);
    return { ...request, tracers, budget, memoryBytesMax, ...(request.asLines && { factory }) };
  }

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

  function targetAt(at: BlockSelector): CallTarget {
    const { header, state } = resolveState(reader, at);
    return { state, header, blockHash };
  }

  /** Executes the block up to transaction `index`, exclusive. */
  function replayTo({ block, senders }: ExecutedBlock, index: number, budget: TraceBudget) {
    const replay = new BlockReplay(targetOf(block, senders), execution);
    for (let i = 0; i < index; i++) {
      budget.assertInTime();
      replay.skip();
    }
    return replay;
  }

  function stateBefore(at: BlockSelector, txIndex: number, budget: TraceBudget): StateReader {
    const executed = findBlock(reader, at)!;
    const { hash, header, transactions } = executed.block;
    if (header.number === 0) throw new NotTraceableError("no transaction in genesis");
    // An empty block also has a state before its first transaction.
    if (txIndex > 0 && txIndex >= transactions.length) {
      throw new NotTraceableError(`transaction index ${txIndex} out of range for block ${hash}`);
    }
    return replayTo(executed, txIndex, budget).state.asReader();
  }

  /** @throws NotTraceableError */
  function targetOfChain(at: number | Hash): BlockToTrace {
    const executed = reader.block(at);
    if (!executed) {
      throw new NotTraceableError(`block ${typeof at === "number" ? `#${at}` : at} not found`);
    }
    return targetOf(executed.block, executed.senders);
  }

  let scratch: Uint8Array | undefined;
  function written(write: (out: JsonWriter) => void): TraceText {
    scratch ??= new Uint8Array(SCRATCH_BYTES);
    const out = new JsonWriter(scratch);
    write(out);
    return out.finishText();
  }

  function textOfBlock(target: BlockToTrace, request: TraceRequest, limits: CallLimits): TraceText {
    return written((out) => writeBlockTraces(target, optionsOf(request, limits), execution, out));
  }

  /** The environment for tracing calls on the state after a block, or before its transaction `txIndex`. */
  function onState(
    at: BlockSelector,
    request: TraceRequest & CallOverrides & { readonly txIndex?: number | undefined },
    limits: CallLimits,
  ) {
    if (!findHeader(reader, at)) {
      const name = typeof at === "object" ? at.blockHash : `#${at}`;
      throw new NotTraceableError(`block ${name} not found`);
    }
    const { header, state } = resolveState(reader, at);
    const { stateOverrides, blockOverrides, txIndex, ...rest } = request;
    const traceOptions = optionsOf(rest, limits);
    const target: CallTarget = {
      state: txIndex === undefined ? state : stateBefore(at, txIndex, traceOptions.budget),
      header,
      blockHash,
    };
    const config = { ...execution.config, ...rest.configOverrides };
    const options = {
      ...traceOptions,
      gasCap: limits.gasCap,
      ...(stateOverrides && { stateOverrides }),
      ...(blockOverrides && { blockOverrides }),
    };
    return { target, modules: { ...execution, config }, options };
  }

  return {
    traceTransaction({ hash, request }, limits = own) {
      const found = reader.transaction(hash);
      if (!found) throw new NotTraceableError("transaction not found");
      const options = optionsOf(request, limits);
      const executed = reader.block(found.blockNumber)!;
      return replayTo(executed, found.index, options.budget).trace(options);
    },
    traceBlock({ at, request }, limits = own) {
      const target = targetOfChain(at);
      const results = traceBlock(target, optionsOf(request, limits), execution);
      return target.block.transactions.map(({ hash }, i) => ({ txHash: hash, ...results[i]! }));
    },
    traceBlockText: ({ at, request }, limits = own) => textOfBlock(targetOfChain(at), request, limits),
    traceBlockFrames({ at }, limits = own) {
      const frames = new BlockFrames(tables);
      return written((out) => {
        const options = { ...optionsOf({}, limits), factory: frames.factory };
        writeBlockFrames(targetOfChain(at), options, execution, out);
      });
    },
    traceRawBlock({ rlp, request }, limits = own) {
      const block = decode(rlp);
      const { parentHash, number } = block.header;
      if (number > 0 && reader.numberOf(parentHash) === undefined) {
        throw new NotTraceableError(`parent ${parentHash} not found`);
      }
      return textOfBlock(targetOf(block), request, limits);
    },
    traceCall({ args, at, request }, limits = own) {
      const { target, modules, options } = onState(at, request, limits);
      return traceCall(args, target, modules, options);
    },
    traceBundles({ bundles, at, request }, limits = own) {
      const { target, modules, options } = onState(at, request, limits);
      return traceBundles(bundles, target, modules, options);
    },
    traceCalls({ calls, at, request }, limits = own) {
      const options = { ...optionsOf(request, limits), gasCap: limits.gasCap };
      return traceCalls(calls, targetAt(at), execution, options);
    },
    traceRawTransaction: ({ raw, at, request }, limits = own) =>
      traceRawTransaction(raw, targetAt(at), execution, optionsOf(request, limits)),
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

import type { BlockContext, Evm } from "../evm/evm.ts";
import { precompilesAt } from "../evm/precompiles/index.ts";
import type { GasPool } from "../execution/block/block-context.ts";
import { type BlockHashes, blockContextOf } from "../execution/block/block-context.ts";
import { storeAncestry } from "../execution/block/system-calls.ts";
import { applyMessage } from "../execution/transaction/apply-message.ts";
import { messageFromTransaction } from "../execution/transaction/message.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import type { Address } from "../primitives/address.ts";
import type { StateReader } from "../state/reader.ts";
import { replayChanges } from "../state/state-changes.ts";
import { createWorldState, type WorldState } from "../state/world-state.ts";
import type { Block } from "../types/block.ts";
import { recoverSender } from "../types/transaction/sender.ts";
import type { TraceText } from "./json-writer.ts";
import { orTracingFailed, ScriptFailedError } from "./trace-budget.ts";
import { type TraceOptions, traceMessage } from "./trace-message.ts";

type TracingModules = { readonly config: ChainConfig; readonly evm: Evm };

/** A block to run again, which need not be one of the chain. */
export type BlockToTrace = {
  readonly block: Block;
  /** Absent where they are not known. */
  readonly senders?: readonly Address[];
  /** The state after the parent. */
  readonly parentState: StateReader;
  readonly blockHash: BlockHashes;
};

/** A block being run again, transaction by transaction. */
type Replay = {
  readonly context: BlockContext;
  /** The state before the next transaction. */
  readonly state: WorldState;
  /** Runs the next transaction without watching it. */
  skip(): void;
  /**
   * Runs the next transaction; JSON of its trace.
   * @throws ScriptFailedError after the transaction was run: the one after it can be traced
   */
  trace(options: TraceOptions): TraceText;
};

/** Begins to run `target` again: the protocol's own calls are made, no transaction yet. */
export function beginReplay(
  { block, senders, parentState, blockHash }: BlockToTrace,
  { config, evm }: TracingModules,
): Replay {
  const { header, transactions } = block;
  const context = blockContextOf(header, config, blockHash);
  const state = createWorldState(parentState);
  const gasPool: GasPool = { gas: header.gasLimit, blobGas: 2n ** 64n };
  storeAncestry(header, { evm, block: context, state });
  let index = 0;
  let logsBefore = 0;

  const nextMessage = () => {
    const tx = transactions[index]!;
    const sender = senders?.[index] ?? recoverSender(tx, context.hardfork);
    return messageFromTransaction(tx, sender, context.baseFeePerGas);
  };

  return {
    context,
    state,
    skip() {
      const message = nextMessage();
      const { logs } = orTracingFailed(() => applyMessage(message, { evm, block: context, state, gasPool }));
      logsBefore += logs.length;
      index++;
    },
    trace(options) {
      const message = nextMessage();
      const { budget, memoryBytesMax, configOverrides } = options;
      const tracedContext = configOverrides
        ? blockContextOf(header, { ...config, ...configOverrides }, blockHash)
        : context;
      const executeOptions = {
        deadlineMs: budget.deadlineMs,
        ...(memoryBytesMax !== undefined && { memoryBytesMax }),
      };
      const traced = {
        message,
        block: tracedContext,
        precompiles: precompilesAt(tracedContext.hardfork),
        state: state.beforeTransaction(),
        logsBefore,
        place: { blockHash: block.hash, hash: transactions[index]!.hash, index },
      };
      const environment = { evm, block: tracedContext, gasPool };
      const run = traceMessage(
        traced,
        options,
        (tracer, own) =>
          orTracingFailed(() => applyMessage(message, { ...environment, state: own }, { ...executeOptions, tracer })),
        state,
      );
      if (!run.isApplied) replayChanges(run.changes(), state);
      logsBefore += run.result.logs.length;
      index++;
      return run.text();
    },
  };
}

/** JSON of a trace, or why the caller's script could not make it. */
type BlockTraceItem = { readonly result: TraceText } | { readonly error: string };

/** The trace of every transaction of the block, in order. */
export function traceBlock(
  target: BlockToTrace,
  options: TraceOptions,
  modules: TracingModules,
): readonly BlockTraceItem[] {
  const replay = beginReplay(target, modules);
  // Any other tracer fails the whole call, as in geth; muxTracer is one of those whatever it holds.
  const isScript = options.tracer !== "muxTracer" && options.tracer !== "";
  return target.block.transactions.map(() => {
    try {
      return { result: replay.trace(options) };
    } catch (error) {
      if (!(error instanceof ScriptFailedError) || !isScript) throw error;
      return { error: error.message };
    }
  });
}

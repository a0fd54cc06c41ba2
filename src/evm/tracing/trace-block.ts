import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Block } from "../../base/types/block.ts";
import { recoverSender } from "../../base/types/transaction/sender.ts";
import { storeAncestry } from "../execution/block/system-calls.ts";
import { type BlockHashes, blockContextOf, fullGasPool, type GasPool } from "../execution/block-context.ts";
import { applyMessage } from "../execution/transaction/apply-message.ts";
import { messageFromTransaction, type TransactionMessage } from "../execution/transaction/message.ts";
import type { BlockContext, Evm } from "../machine/evm.ts";
import { precompilesAt } from "../machine/precompiles/index.ts";
import type { Precompile } from "../machine/state-port.ts";
import type { StateChanges, StateReader } from "../state/reader.ts";
import { replayChanges } from "../state/state-changes.ts";
import { createWorldState, type WorldState } from "../state/world-state.ts";
import type { JsonWriter, TraceText } from "./json-writer.ts";
import { CountedBudget, orTracingFailed, ScriptFailedError } from "./trace-budget.ts";
import { type TraceOptions, type TraceSink, traceMessage } from "./trace-message.ts";

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

/** A block being run again, transaction by transaction: the protocol's own calls are made, no transaction yet. */
export class BlockReplay {
  /** The state before the next transaction. */
  readonly state: WorldState;
  readonly #target: BlockToTrace;
  readonly #modules: TracingModules;
  readonly #context: BlockContext;
  readonly #precompiles: ReadonlyMap<Address, Precompile>;
  readonly #gasPool: GasPool;
  #index = 0;
  #logsBefore = 0;

  constructor(target: BlockToTrace, modules: TracingModules) {
    const { header } = target.block;
    const { config, evm } = modules;
    this.#target = target;
    this.#modules = modules;
    this.#context = blockContextOf(header, config, target.blockHash);
    this.#precompiles = precompilesAt(this.#context.hardfork);
    this.state = createWorldState(target.parentState);
    this.#gasPool = fullGasPool(header.gasLimit, 2n ** 64n);
    storeAncestry(header, { evm, block: this.#context, state: this.state });
  }

  /** Runs the next transaction without watching it. */
  skip(): void {
    this.#apply(this.state);
  }

  /** As `skip`; what the transaction changed. */
  step(): StateChanges {
    const state = createWorldState(this.state.asReader());
    this.#apply(state);
    const changes = state.changes();
    replayChanges(changes, this.state);
    return changes;
  }

  #apply(state: WorldState): void {
    const environment = { evm: this.#modules.evm, block: this.#context, state, gasPool: this.#gasPool };
    const message = this.#nextMessage();
    this.#logsBefore += orTracingFailed(() => applyMessage(message, environment)).logs.length;
    this.#index++;
  }

  /**
   * Runs the next transaction; JSON of its trace, empty where it is written to `sink`.
   * @throws ScriptFailedError after the transaction was run: the one after it can be traced, and nothing was written
   */
  trace(options: TraceOptions, sink?: TraceSink): TraceText {
    const { block } = this.#target;
    const { evm } = this.#modules;
    const { budget, memoryBytesMax } = options;
    const message = this.#nextMessage();
    const context = this.#contextOf(options);
    const traced = {
      message,
      block: context,
      precompiles: context === this.#context ? this.#precompiles : precompilesAt(context.hardfork),
      state: this.state.beforeTransaction(),
      logsBefore: this.#logsBefore,
      budget: new CountedBudget(budget),
      place: { blockHash: block.hash, hash: block.transactions[this.#index]!.hash, index: this.#index },
    };
    // Spread copies would take a tenth of the time of a transfer (`npm run bench -- trace`).
    const run = traceMessage(
      traced,
      options,
      (tracer, state) =>
        orTracingFailed(() =>
          applyMessage(
            message,
            { evm, block: context, state, gasPool: this.#gasPool },
            { tracer, deadlineMs: budget.deadlineMs, memoryBytesMax },
          ),
        ),
      this.state,
      sink,
    );
    if (!run.isApplied) replayChanges(run.changes(), this.state);
    this.#logsBefore += run.result.logs.length;
    this.#index++;
    return run.text();
  }

  #nextMessage(): TransactionMessage {
    const { block, senders } = this.#target;
    const tx = block.transactions[this.#index]!;
    const sender = senders?.[this.#index] ?? recoverSender(tx, this.#context.hardfork);
    return messageFromTransaction(tx, sender, this.#context.baseFeePerGas);
  }

  #contextOf({ configOverrides }: TraceOptions): BlockContext {
    if (configOverrides === undefined) return this.#context;
    const { block, blockHash } = this.#target;
    return blockContextOf(block.header, { ...this.#modules.config, ...configOverrides }, blockHash);
  }
}

/** JSON of a trace, or why the caller's script could not make it. */
type BlockTraceItem = { readonly result: TraceText } | { readonly error: string };

export function traceBlock(
  target: BlockToTrace,
  options: TraceOptions,
  modules: TracingModules,
): readonly BlockTraceItem[] {
  const replay = new BlockReplay(target, modules);
  return target.block.transactions.map(() => {
    try {
      return { result: replay.trace(options) };
    } catch (error) {
      return { error: scriptErrorOf(error, options) };
    }
  });
}

/** Writes the list that debug_traceBlockByNumber answers: of each transaction its hash, and its trace or why a script could not make it. */
export function writeBlockTraces(
  target: BlockToTrace,
  options: TraceOptions,
  modules: TracingModules,
  out: JsonWriter,
): void {
  const replay = new BlockReplay(target, modules);
  const sink = { out, head: '"result":' };
  out.text("[");
  for (const [i, { hash }] of target.block.transactions.entries()) {
    out.parts(i === 0 ? '{"txHash":"' : ',{"txHash":"', hash, '",');
    try {
      replay.trace(options, sink);
    } catch (error) {
      out.text(`"error":${JSON.stringify(scriptErrorOf(error, options))}`);
    }
    out.text("}");
  }
  out.text("]");
}

/** Writes one list of what the transactions of the block write under `options.factory`, which puts the commas between them too. */
export function writeBlockFrames(
  target: BlockToTrace,
  options: TraceOptions,
  modules: TracingModules,
  out: JsonWriter,
): void {
  const replay = new BlockReplay(target, modules);
  const sink = { out, head: "" };
  out.text("[");
  for (const _ of target.block.transactions) replay.trace(options, sink);
  out.text("]");
}

/** Why the caller's script failed. @throws any other error: it fails the whole call, as in geth */
function scriptErrorOf(error: unknown, { tracer }: TraceOptions): string {
  // muxTracer is not a script, even if it contains one.
  const isScript = tracer !== "muxTracer" && tracer !== "";
  if (!(error instanceof ScriptFailedError) || !isScript) throw error;
  return error.message;
}

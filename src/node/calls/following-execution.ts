import type { Hash } from "../../base/primitives/hash.ts";
import { Moved } from "../../base/threads/channel.ts";
import { type ErrorData, errorDataOf, plainData } from "../../base/threads/plain-data.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import { GasPriceOracle } from "../../chain/fees/gas-price-oracle.ts";
import type { ChainReader, PendingBlock } from "../../chain/reader.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import type { StateChanges } from "../../evm/state/reader.ts";
import { replayChanges } from "../../evm/state/state-changes.ts";
import { createWorldState } from "../../evm/state/world-state.ts";
import { TraceTooLargeError } from "../../evm/tracing/trace-budget.ts";
import { type AnyMethod, PORT_METHODS } from "../../rpc/ports/declarations.ts";
import type { ExecutionReads } from "../../rpc/ports/execution.ts";
import { PendingUnavailableError } from "../../rpc/transport/errors.ts";
import { createExecutionReads } from "../adapters/execution-port.ts";
import type { CallLimits } from "../adapters/rpc-settings.ts";
import { movableTexts } from "./movable-texts.ts";
import { StoreExecution, type StoreExecutionData } from "./store-execution.ts";

export type ExecutionThreadData = StoreExecutionData & {
  readonly genesisHash: Hash;
  readonly limits: CallLimits;
  /** The tip suggested while no block has one, in wei; the oracle's own if undefined. */
  readonly startPrice: bigint | undefined;
  /** Contracts that are hot run compiled. */
  readonly compiles: boolean;
};

/** The pending block as data: its state is `changes` over the state of its parent. */
export type PendingBlockData = {
  readonly executed: Pick<ExecutedBlock, "block" | "senders">;
  readonly changes: StateChanges;
};

export type ExecutionRequest = {
  readonly method: keyof ExecutionReads;
  /** Without `cancel`. */
  readonly input: unknown;
  /** Present for a request on the pending block, where there is one. */
  readonly pending?: PendingBlockData;
};

/**
 * @property epoch of the store, as it was when the thread read it: after a rollback the outcome is of a chain that is gone
 * @property ms that it took
 */
export type ExecutionOutcome = { readonly epoch: number; readonly ms: number } & (
  | { readonly value: unknown }
  | { readonly error: ErrorData }
);

/** Only eth_simulateV1 reads trie nodes. */
const TRIE_BYTES = 1 << 20;

type FollowingExecutionModules = {
  readonly compiler: ContractCompiler;
  /** Frees unreachable memory at once. */
  readonly collectGarbage: () => void;
};

/** Executions on the chain of a store that another thread writes. */
export class FollowingExecution {
  readonly #chain: StoreExecution;
  readonly #reads: ExecutionReads;
  readonly #collectGarbage: () => void;
  /** Of the request that runs: a pending block and its parent, which is the head for that request. */
  #pending: { readonly block: PendingBlock; readonly parent: number } | undefined;

  constructor(data: ExecutionThreadData, { compiler, collectGarbage }: FollowingExecutionModules) {
    const { genesisHash, limits, startPrice, compiles } = data;
    this.#collectGarbage = collectGarbage;
    this.#chain = new StoreExecution(data, TRIE_BYTES, compiles ? compiler : undefined);
    const { store, modules: execution } = this.#chain;
    const reader: ChainReader = {
      ...this.#chain.reader(genesisHash, () => this.#pending?.parent ?? store.head()),
      pending: () => this.#pending?.block,
    };
    const oracle = new GasPriceOracle(startPrice === undefined ? {} : { startPrice }, reader);
    this.#reads = createExecutionReads(limits, { reader, execution, store }, () => oracle.suggestTip());
  }

  /** Runs on every block that was committed before the request was sent. What it throws is in its outcome. */
  execute(request: ExecutionRequest): ExecutionOutcome | Moved<ExecutionOutcome> {
    const startMs = performance.now();
    try {
      const result = plainData(this.#run(request));
      const ms = performance.now() - startMs;
      const { epoch } = this.#chain.store;
      if (PORT_METHODS.execution[request.method].heavy !== "trace") return { epoch, ms, value: result };
      const { value, buffers } = movableTexts(result as Parameters<typeof movableTexts>[0]);
      return new Moved({ epoch, ms, value }, buffers);
    } catch (error) {
      const { epoch } = this.#chain.store;
      // V8 would let the next trace write as much again before it frees this one, which is discarded.
      if (error instanceof TraceTooLargeError) this.#collectGarbage();
      return { epoch, ms: performance.now() - startMs, error: errorDataOf(error) };
    }
  }

  /** A thread without requests would hold removed files until it ends. */
  releaseRemoved(): void {
    this.#chain.store.releaseRemoved();
  }

  #run({ method, input, pending }: ExecutionRequest): unknown {
    this.#chain.catchUp();
    this.#pending = pending && this.#pendingBlock(pending);
    const read = this.#reads[method] as AnyMethod;
    return read(input as object);
  }

  /** @throws PendingUnavailableError where the block that it builds on was rolled back meanwhile */
  #pendingBlock({ executed, changes }: PendingBlockData) {
    const { header } = executed.block;
    const parent = header.number - 1;
    const { store } = this.#chain;
    if (store.blockHash(parent) !== header.parentHash) throw new PendingUnavailableError("state");
    const state = createWorldState(store.stateAt(parent));
    replayChanges(changes, state);
    const block = { executed: { ...executed, receipts: [] }, state: state.asReader(), changes };
    return { block, parent };
  }
}

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
  /** The tip to suggest while no block has one, in wei; undefined: the oracle's default. */
  readonly startPrice: bigint | undefined;
  /** Whether hot contracts run compiled. */
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
  /** Present for a request on the pending block, if there is one. */
  readonly pending?: PendingBlockData;
};

/**
 * @property epoch of the store when the thread read it: after a rollback, the outcome belongs to a chain that no longer exists
 * @property ms duration
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

/** Executes on a chain whose store another thread writes. */
export class FollowingExecution {
  readonly #chain: StoreExecution;
  readonly #reads: ExecutionReads;
  readonly #collectGarbage: () => void;
  /** The pending block of the current request, and its parent, which is that request's head. */
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

  /** Executes on every block committed before the request was sent. The outcome carries errors. */
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
      // V8 would let the next trace allocate as much before it frees this discarded one.
      if (error instanceof TraceTooLargeError) this.#collectGarbage();
      return { epoch, ms: performance.now() - startMs, error: errorDataOf(error) };
    }
  }

  /** Without this, an idle thread would keep removed files open until it ends. */
  releaseRemoved(): void {
    this.#chain.store.releaseRemoved();
  }

  #run({ method, input, pending }: ExecutionRequest): unknown {
    this.#chain.catchUp();
    this.#pending = pending && this.#pendingBlock(pending);
    const read = this.#reads[method] as AnyMethod;
    return read(input as object);
  }

  /** @throws PendingUnavailableError if its parent was rolled back meanwhile */
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

import { createChainReader, knownBlock } from "../../../chain/chain-reader.ts";
import { createChainStateTrie } from "../../../chain/chain-state-trie.ts";
import { feeHistory } from "../../../chain/fees/fee-history.ts";
import { createGasPriceOracle } from "../../../chain/fees/gas-price-oracle.ts";
import type { ChainReader } from "../../../chain/reader.ts";
import { StoreFollower } from "../../../chain/store/store-follower.ts";
import type { Config } from "../../../config/config.ts";
import { InvariantError } from "../../../errors.ts";
import { createEvm } from "../../../evm/engine.ts";
import type { ExecutionModules } from "../../../execution/block/block-execution.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { SharedSlices } from "../../../rpc/dispatch/shared-slices.ts";
import type {
  BlockReads,
  ChainListener,
  ChainView,
  StateReads,
} from "../../../rpc/ports/chain-view.ts";
import { createStoredReads } from "../../../rpc/ports/local/chain-view.ts";
import { createStateTrie } from "../../../state/merkle-state-trie.ts";
import type { ExecutedBlock } from "../../../types/block.ts";
import type { RpcWorkerData } from "./rpc-protocol.ts";

/** As many trie nodes as a proof of a thousand slots reads. */
const TRIE_OPTIONS = { cachedNodesMax: 16_384 };

type Reads = BlockReads & StateReads;
type AnyMethod = (...args: readonly unknown[]) => unknown;

/** Position of the block selector among the arguments, where there is one: the pending block belongs to the chain's process. */
const SELECTOR_AT: Readonly<Record<keyof Reads, number | undefined>> = {
  head: undefined,
  header: 0,
  block: 0,
  blockHashes: undefined,
  transaction: undefined,
  transactionAt: 0,
  transactionBySender: undefined,
  receipt: undefined,
  account: 1,
  code: 1,
  accountWithCode: 1,
  storage: 2,
  storageValues: 1,
  proof: 2,
};

/**
 * The chain of a store that another process writes. Every read sees all blocks that were committed before it began, so no two
 * connections, on whichever process, see the chain go back; a read that a rollback overtook runs again.
 */
export class FollowedChain {
  readonly reader: ChainReader;
  readonly execution: ExecutionModules;
  readonly suggestTip: () => bigint;
  readonly #store: StoreFollower;
  readonly #listeners = new Set<ChainListener>();
  /** Blocks that were gone before their event arrived: their removal is no event either. */
  readonly #skipped = new Set<Hash>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(
    { store, chainConfig, genesisHash, config }: RpcWorkerData,
    onListenerError: (error: unknown) => void,
  ) {
    this.#onListenerError = onListenerError;
    this.#store = new StoreFollower({
      ...store,
      createTrie: (nodes) => createStateTrie(nodes, TRIE_OPTIONS),
    });
    const stateTrie = createChainStateTrie(this.#store, TRIE_OPTIONS);
    this.reader = {
      ...createChainReader({
        ...{ config: chainConfig, genesisHash, stateTrie },
        store: this.#store,
        head: () => knownBlock(this.#store, this.#store.head()),
      }),
      pending() {
        throw new InvariantError("the pending block is in the chain's process");
      },
    };
    this.execution = { config: chainConfig, stateTrie, evm: createEvm() };
    const { minimumGasPriceWei } = config.mempool;
    const startPrice = minimumGasPriceWei > 0n ? { startPrice: minimumGasPriceWei } : {};
    const oracle = createGasPriceOracle(startPrice, { chain: this.reader });
    this.suggestTip = () => oracle.suggestTip();
  }

  /** Rollbacks of the store so far. */
  get epoch(): number {
    return this.#store.epoch;
  }

  /** The result of `read` on the chain as it is now. */
  read<T>(read: () => T): T {
    for (;;) {
      this.#store.catchUp();
      try {
        const result = read();
        if (!this.#store.isStale()) return result;
      } catch (error) {
        if (!this.#store.isStale()) throw error;
      }
    }
  }

  /** The whole port. @param remote answers in the chain's process what only it knows */
  view(remote: ChainView, { feeHistoryBlocksMax }: Config["jsonRpc"]): ChainView {
    return {
      ...remote,
      ...this.#reads(remote),
      suggestTip: () => this.read(this.suggestTip),
      feeHistory: (blockCount, newest, percentiles) =>
        newest === "pending"
          ? remote.feeHistory(blockCount, newest, percentiles)
          : this.read(() =>
              feeHistory(
                Math.min(blockCount, feeHistoryBlocksMax),
                newest,
                percentiles,
                this.reader,
              ),
            ),
      subscribe: (listener) => this.#subscribe(listener, remote),
    };
  }

  /** Emits the block, which became the head of the chain's process. */
  emitHead(number: number, hash: Hash): void {
    const executed = this.read(() =>
      this.reader.hashAt(number) === hash ? this.reader.blockByNumber(number) : undefined,
    );
    if (executed === undefined) this.#skipped.add(hash);
    else this.#emit((listener) => listener.onBlock?.(executed));
  }

  emitRemoved(removed: readonly ExecutedBlock[]): void {
    const known = removed.filter(({ block }) => !this.#skipped.delete(block.hash));
    if (known.length > 0) this.#emit((listener) => listener.onRemoved?.(known));
  }

  close(): void {
    this.#store.close();
  }

  #reads(remote: Reads): Reads {
    const local = createStoredReads(this.reader, new SharedSlices());
    const methods = Object.entries(SELECTOR_AT).map(([name, selectorAt]) => {
      const here = local[name as keyof Reads] as AnyMethod;
      const there = remote[name as keyof Reads] as AnyMethod;
      const method: AnyMethod = (...args) =>
        selectorAt !== undefined && args[selectorAt] === "pending"
          ? there(...args)
          : this.read(() => here(...args));
      return [name, method];
    });
    return Object.fromEntries(methods) as Reads;
  }

  /** Pending transactions are asked for one by one listener: each costs a message. */
  #subscribe(listener: ChainListener, remote: ChainView): () => void {
    this.#listeners.add(listener);
    const { onPending } = listener;
    const stopPending = onPending ? remote.subscribe({ onPending }) : () => {};
    return () => {
      this.#listeners.delete(listener);
      stopPending();
    };
  }

  #emit(send: (listener: ChainListener) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        send(listener);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }
}

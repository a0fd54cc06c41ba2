import { InvariantError, invariant } from "../../base/errors.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { Header } from "../../base/types/header.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import type { LogReader } from "../../store/storage/log/log-reader.ts";
import type { VersionedTable } from "../../store/storage/versioned-table.ts";
import type { TrieNodeReader } from "../../store/trie/node-store.ts";
import type { BlockRecord, GasPayment, IncludedTransaction, ReadableBlockStore } from "../block-store.ts";
import { BlockPrunedError, StatePrunedError } from "../store-errors.ts";
import type { StoreCacheSizes } from "./cache-sizes.ts";
import type { BlockIndex } from "./index/block-index.ts";
import { BlockReader } from "./log/block-reader.ts";
import { ComputedTrieNodes, type CreateTrie } from "./nodes/computed-trie-nodes.ts";
import { HeadState, HistoricStates } from "./state/state-caches.ts";
import type { StatelessBlocks } from "./stateless-blocks.ts";
import { type StateSource, StoredState } from "./stored-state.ts";

export type StoreViewModules = {
  readonly log: LogReader;
  readonly index: BlockIndex;
  readonly createTrie: CreateTrie;
  readonly caches: StoreCacheSizes;
  readonly stateless?: StatelessBlocks | undefined;
  /** False: values of the newest state do not stay decoded. */
  readonly decodesHead?: boolean | undefined;
  /** The index is written by this thread: it ends with the newest block. Rows of another writer may be of blocks after the head. */
  readonly isWriter: boolean;
};

/**
 * The blocks of a log and its index between a base and a head, with the caches of what was read of them. Subclasses say where base
 * and head are.
 */
export abstract class StoreView implements ReadableBlockStore {
  protected readonly index: BlockIndex;
  protected readonly blocks: BlockReader;
  protected readonly headState: HeadState;
  protected readonly historic: HistoricStates;
  protected readonly computed: ComputedTrieNodes;
  readonly #states: StateSource;
  /** The newest block, as a field: each read of a state looks at it. */
  newest: { readonly number: number } | undefined;

  constructor({ log, index, createTrie, caches, stateless, decodesHead, isWriter }: StoreViewModules) {
    const assertNotPruned = (number: number) => this.assertNotPruned(number, this.newestStateBase());
    /** @param read of a row, or of the log: the writer may have gone on by more blocks than it stores states of */
    const atHead = (table: VersionedTable) => ({
      latest: (key: Uint8Array) => {
        const head = this.head()!;
        try {
          return table.at(key, head);
        } finally {
          assertNotPruned(head);
        }
      },
    });
    const { accounts, slots } = index;
    const latest = isWriter ? index : { accounts: atHead(accounts), slots: atHead(slots) };
    this.index = index;
    this.blocks = new BlockReader(log, (number) => this.positionOf(number), caches.blocks);
    this.headState = new HeadState(latest, caches.headState, decodesHead);
    this.historic = new HistoricStates(index, assertNotPruned, caches.historicStates);
    this.computed = new ComputedTrieNodes(
      createTrie,
      (number) => (number < (this.base() ?? 0) ? undefined : this.record(number)),
      (number) => this.stateAt(number),
      stateless,
    );
    this.#states = {
      index,
      head: this.headState.decoded,
      historic: this.historic,
      isWriter,
      view: this,
      assertNotPruned,
    };
  }

  abstract base(): number | undefined;
  abstract stateBase(): number;
  abstract close(): void;

  head(): number | undefined {
    return this.newest?.number;
  }

  /** `stateBase` as it is now, for what was read before: another thread may have removed it since. */
  protected newestStateBase(): number {
    return this.stateBase();
  }

  proofBase(): number {
    return Math.max(this.stateBase(), this.index.pruned.proofs.base);
  }

  /** Log position of a stored block. */
  protected positionOf(number: number): number {
    return this.index.blocks.knownPosition(number);
  }

  /** @throws BlockPrunedError */
  protected isStored(number: number): boolean {
    if (this.newest === undefined || number < 0 || number > this.newest.number) return false;
    const base = this.base() ?? 0;
    if (number < base) throw new BlockPrunedError({ number, base });
    return true;
  }

  /** @throws BlockPrunedError, StatePrunedError */
  protected assertNotPruned(number: number, base: number): void {
    if (number >= base || !this.isStored(number)) return;
    throw new StatePrunedError({ number, base, root: this.blocks.header(number).stateRoot });
  }

  block(number: number): ExecutedBlock | undefined {
    return this.isStored(number) ? this.blocks.block(number) : undefined;
  }

  /** The block with its changes. @throws LogCorruptionError */
  protected record(number: number): BlockRecord | undefined {
    return this.isStored(number) ? this.blocks.record(number) : undefined;
  }

  blockInSlices(number: number, slices: SharedSlices): MaybePromise<ExecutedBlock | undefined> {
    return this.isStored(number) ? this.blocks.blockInSlices(number, slices) : undefined;
  }

  header(number: number): Header | undefined {
    return this.isStored(number) ? this.blocks.header(number) : undefined;
  }

  blockHash(number: number): Hash | undefined {
    return this.isStored(number) ? this.blocks.hash(number) : undefined;
  }

  transactionAt(number: number, index: number): IncludedTransaction | undefined {
    return this.isStored(number) ? this.blocks.transaction(number, index) : undefined;
  }

  transactionCount(number: number): number | undefined {
    return this.isStored(number) ? this.blocks.transactionCount(number) : undefined;
  }

  accessList(number: number): Uint8Array | undefined {
    return this.isStored(number) ? this.blocks.accessList(number) : undefined;
  }

  gasPayments(number: number): readonly GasPayment[] | undefined {
    return this.isStored(number) ? this.blocks.gasPayments(number) : undefined;
  }

  numberOf(blockHash: Hash): number | undefined {
    return this.#upToHead(this.index.blocks.numberOf(blockHash));
  }

  numberOfState(stateRoot: Hash): number | undefined {
    return this.#upToHead(this.index.blocks.numberOfState(stateRoot));
  }

  transactionPosition(hash: Hash): { readonly number: number; readonly index: number } | undefined {
    const found = this.index.blocks.transaction(hash);
    return this.#upToHead(found?.number) === undefined ? undefined : found;
  }

  stateAt(number: number): StateReader {
    if (!this.isStored(number)) throw new InvariantError(`block ${number} must be stored to read its state`);
    // Of the newest state most is in memory, and looking at the published head costs more than reading it there.
    if (number !== this.newest?.number) this.#states.assertNotPruned(number);
    return new StoredState(number, this.#states);
  }

  get trieNodes(): TrieNodeReader {
    return this.index.trieNodes;
  }

  /** Nodes of an old state are computed on demand; those after the last checkpoint all at once, in a second at most. */
  trieNodesAt(number: number): TrieNodeReader {
    invariant(this.isStored(number), `block ${number} must be stored to read its trie`);
    if (this.#states.isWriter && number === this.head()) return this.trieNodes;
    this.assertNotPruned(number, this.proofBase());
    const first = Math.max(this.base() ?? 0, this.index.merge.checkpoint());
    if (number + 1 === first) return this.trieNodes;
    if (number < first) return this.index.historicNodes(number);
    return this.computed.over(this.trieNodes, first, number);
  }

  /** Rows of another writer may be of blocks after the head. */
  #upToHead(number: number | undefined): number | undefined {
    return number !== undefined && number <= (this.newest?.number ?? -1) ? number : undefined;
  }
}

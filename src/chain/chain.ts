import { invariant } from "../errors.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateTrie } from "../state/state-trie.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { NodeBatch } from "../trie/node-batch.ts";
import type { ExecutedBlock } from "../types/block.ts";
import { createChainReader, knownBlock } from "./chain-reader.ts";
import type { BlockCommitted, ChainReader } from "./reader.ts";
import type { RemoteChain } from "./remote-chain.ts";
import { nextRollback } from "./rollback-part.ts";
import type { StatePatches } from "./state-patches.ts";
import type { BlockRecord, BlockStore } from "./store/block-store.ts";
import { StatePrunedError } from "./store/store-errors.ts";

/** The canonical chain with its one writer. The pending block is not part of it. */
export type Chain = Omit<ChainReader, "pending"> & {
  readonly stateTrie: StateTrie;
  /** What the consensus engine stored with a known block. */
  consensusDataOf(number: number): Uint8Array;
  /** Makes `record` the new head: on disk first, then readable, then published. */
  commit(record: BlockRecord, nodes: NodeBatch): void;
  /**
   * Makes block `number` the head again and removes the blocks after it, in parts that fit into memory.
   * @throws StatePrunedError
   */
  rollbackTo(number: number): void;
  /** Calls `listener` for every committed block, in order, after the block can be read. One that throws is logged. */
  subscribe(listener: (event: BlockCommitted) => void): () => void;
  /** Calls `listener` with the blocks that a rollback removed, ascending, after their removal; once for each part of a long one. */
  onRollback(listener: (removed: readonly ExecutedBlock[]) => void): () => void;
};

/**
 * @param modules.store must hold at least one block
 * @param modules.genesisHash needed where that is not block 0
 */
export function createChain(modules: {
  readonly config: ChainConfig;
  readonly store: BlockStore;
  readonly stateTrie: StateTrie;
  readonly log: Logger;
  readonly genesisHash?: Hash;
  readonly patches?: StatePatches;
  /** The chain that this one continues. */
  readonly remote?: RemoteChain;
}): Chain {
  const { config, store, stateTrie, log, patches, remote } = modules;
  const listeners = new Set<(event: BlockCommitted) => void>();
  const rollbackListeners = new Set<(removed: readonly ExecutedBlock[]) => void>();
  const genesisHash = modules.genesisHash ?? known(0).block.hash;
  let head = known(store.head());

  function known(number: number | undefined): ExecutedBlock {
    return knownBlock(store, number);
  }

  /** The block is on disk: a listener that throws must not stop the others, or the caller of `commit`. */
  function emit<Event>(listeners: ReadonlySet<(event: Event) => void>, event: Event): void {
    for (const listener of [...listeners]) {
      try {
        listener(event);
      } catch (error) {
        log.error("listener of the chain failed", { number: head.block.header.number, error });
      }
    }
  }

  return {
    ...createChainReader({
      config,
      genesisHash,
      store,
      stateTrie,
      patches,
      remote,
      head: () => head,
    }),
    stateTrie,
    consensusDataOf: (number) => store.consensusDataOf(number),
    commit(record, nodes) {
      invariant(
        record.block.header.parentHash === head.block.hash,
        `block ${record.block.header.number} must follow head ${head.block.header.number}`,
      );
      store.append(record, nodes);
      head = record;
      emit(listeners, { executed: record, changes: record.changes });
    },
    rollbackTo(number) {
      const { stateRoot: root } = known(number).block.header;
      const base = store.proofBase();
      // Before the first part, so that a rollback that cannot be done removes nothing.
      if (number < base) throw new StatePrunedError({ number, base, root });
      do {
        const last = head.block.header.number;
        const to = nextRollback(store, last, number);
        const removed: ExecutedBlock[] = [];
        for (let gone = to + 1; gone <= last; gone++) removed.push(known(gone));
        store.rollbackTo(to);
        patches?.dropAfter(to);
        head = known(to);
        emit(rollbackListeners, removed);
      } while (head.block.header.number > number);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onRollback(listener) {
      rollbackListeners.add(listener);
      return () => rollbackListeners.delete(listener);
    },
  };
}

import { InvariantError, invariant } from "../base/errors.ts";
import type { ChainConfig } from "../base/params/chain-config.ts";
import type { Address } from "../base/primitives/address.ts";
import { EMPTY_BYTES } from "../base/primitives/bytes.ts";
import type { Hash } from "../base/primitives/hash.ts";
import type { Logger } from "../base/telemetry/logger.ts";
import type { Block, ExecutedBlock } from "../base/types/block.ts";
import type { Header } from "../base/types/header.ts";
import type { BlockOutcome, ExecutionModules, SystemUpdate } from "../evm/execution/block/block-execution.ts";
import { executeBlock } from "../evm/execution/block/execute-block.ts";
import { InvalidBlockError } from "../evm/execution/errors.ts";
import { missingPermission } from "../evm/execution/validation/account-permissions.ts";
import { validateBody } from "../evm/execution/validation/validate-body.ts";
import { validateHeader } from "../evm/execution/validation/validate-header.ts";
import type { StateReader } from "../evm/state/reader.ts";
import { changedAddresses } from "../evm/state/state-changes.ts";
import type { StateTrie } from "../evm/state/state-trie.ts";
import { LogPoisonedError } from "../store/storage/log/block-log.ts";
import type { NodeBatch } from "../store/trie/node-batch.ts";
import { AgreedConfig } from "./agreement/agreed-config.ts";
import { RULES_ADDRESS } from "./agreement/agreement.ts";
import type { BlockRecord, BlockStore } from "./block-store.ts";
import {
  type BlockCommitted,
  type ChainReader,
  createChainReader,
  knownBlock,
  type RemoteChain,
  type StatePatches,
} from "./reader.ts";
import { StatePrunedError } from "./store-errors.ts";

/** The canonical chain with its one writer. The pending block is not part of it. */
export type Chain = Omit<ChainReader, "pending"> & {
  readonly stateTrie: StateTrie;
  /** The rules of the genesis file; `config` has what the validators agreed on since, too. */
  readonly genesisConfig: ChainConfig;
  /** What the consensus engine stored with a known block. */
  consensusDataOf(number: number): Uint8Array;
  /** Makes `record` the new head: on disk first, then readable, then published. */
  commit(record: BlockRecord, nodes: NodeBatch): void;
  /** Publishes the blocks that `work` commits once all of them are on disk; until then, only `work` sees them. */
  commitTogether(work: () => void): void;
  /** Makes block `number` the head again and removes the blocks after it. @throws StatePrunedError; nothing is removed then */
  rollbackTo(number: number): void;
  /**
   * The same for as many of the newest blocks as fit into memory.
   * @returns whether `number` is the head
   */
  rollbackPart(number: number): boolean;
  /**
   * Calls `listener` for every committed block, in order, after the block can be read. One that throws is logged.
   * @param isAtOnce true: `listener` receives each of the blocks that are committed together before the next one is built, and before they are synced
   */
  subscribe(listener: (event: BlockCommitted) => void, isAtOnce?: boolean): () => void;
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
  const { config: genesisConfig, store, stateTrie, log, patches, remote } = modules;
  const agreed = new AgreedConfig(genesisConfig);
  const listeners = new Set<(event: BlockCommitted) => void>();
  const listenersAtOnce = new Set<(event: BlockCommitted) => void>();
  const rollbackListeners = new Set<(removed: readonly ExecutedBlock[]) => void>();
  const genesisHash = modules.genesisHash ?? known(0).block.hash;
  let head = known(store.head());
  /** Blocks that are not published yet. */
  let unpublished: BlockCommitted[] | undefined;
  followAgreement();

  /** A chain that continues a remote one has no validators who vote: its state is not asked. */
  function followAgreement(): void {
    if (remote === undefined) agreed.follow(store.stateAt(head.block.header.number));
  }

  function known(number: number | undefined): ExecutedBlock {
    return knownBlock(store, number);
  }

  function removedAfter(number: number, removed: readonly ExecutedBlock[]): void {
    patches?.dropAfter(number);
    head = known(number);
    followAgreement();
    emit(rollbackListeners, removed);
  }

  function rollbackPart(number: number): boolean {
    const { stateRoot: root } = known(number).block.header;
    const base = store.proofBase();
    // Before the first part, so that a rollback that cannot be done removes nothing.
    if (number < base) throw new StatePrunedError({ number, base, root });
    const removed = newestAfter(number);
    const to = head.block.header.number - removed.length;
    try {
      store.rollbackTo(to);
    } finally {
      // Also where the log could not be cut after the blocks went from the index: nothing can be read of them any more.
      if (store.head() === to) removedAfter(to, removed);
    }
    return to === number;
  }

  /** The newest of the blocks after `number`, ascending: those that are removed at a time. */
  function newestAfter(number: number): readonly ExecutedBlock[] {
    const newest: ExecutedBlock[] = [];
    let transactions = 0;
    for (let at = head.block.header.number; at > number && newest.length < PART_BLOCKS; at--) {
      const block = known(at);
      transactions += block.block.transactions.length;
      if (transactions > PART_TRANSACTIONS && newest.length > 0) break;
      newest.push(block);
    }
    return newest.reverse();
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
      config: agreed.config,
      genesisHash,
      store,
      stateTrie,
      patches,
      remote,
      head: () => head,
    }),
    stateTrie,
    genesisConfig,
    consensusDataOf: (number) => store.consensusDataOf(number),
    commit(record, nodes) {
      const { parentHash, number } = record.block.header;
      if (parentHash !== head.block.hash) {
        throw new InvariantError(`block ${number} must follow head ${head.block.header.number}`);
      }
      store.append(record, nodes);
      head = record;
      if (changedAddresses(record.changes).includes(RULES_ADDRESS)) followAgreement();
      const event = { executed: record, changes: record.changes };
      emit(listenersAtOnce, event);
      if (unpublished === undefined) emit(listeners, event);
      else unpublished.push(event);
    },
    commitTogether(work) {
      invariant(unpublished === undefined, "blocks that are committed together must not be nested");
      const events: BlockCommitted[] = [];
      unpublished = events;
      try {
        store.appendTogether(() => {
          try {
            work();
          } finally {
            unpublished = undefined;
          }
        });
      } catch (error) {
        // What could not be synced is not to be told.
        if (error instanceof LogPoisonedError) events.length = 0;
        throw error;
      } finally {
        for (const event of events) emit(listeners, event);
      }
    },
    rollbackPart,
    rollbackTo(number) {
      let isDone = false;
      while (!isDone) isDone = rollbackPart(number);
    },
    subscribe(listener, isAtOnce = false) {
      const all = isAtOnce ? listenersAtOnce : listeners;
      all.add(listener);
      return () => all.delete(listener);
    },
    onRollback(listener) {
      rollbackListeners.add(listener);
      return () => rollbackListeners.delete(listener);
    },
  };
}

/** Removed at a time: listeners get blocks whole, and each removal syncs the block log. */
const PART_BLOCKS = 1_024;
const PART_TRANSACTIONS = 4_096;

/**
 * Validates and executes `block`, which must follow the head, and makes it the head.
 * @param known what the engine stored with the block, what it changed in the state, and the senders of the first transactions
 * @throws InvalidBlockError, and errors of malformed transactions; the chain is then not changed
 */
export function importBlock(
  chain: Chain,
  block: Block,
  execution: ExecutionModules,
  known: {
    readonly data: Uint8Array;
    readonly systemUpdate?: SystemUpdate;
    readonly senders?: readonly Address[];
    readonly accessList?: Uint8Array | undefined;
  } = { data: EMPTY_BYTES },
): void {
  const { block: parent } = chain.head();
  if (block.header.parentHash !== parent.hash) {
    throw new InvalidBlockError("BLOCK_UNKNOWN_PARENT", "unknown ancestor", {
      parentHash: block.header.parentHash,
      head: parent.hash,
    });
  }
  const {
    senders,
    receipts,
    changes,
    trie,
    encodedAccessList: accessList,
  } = executeOn(parent.header, block, chain, execution, known);
  const record = { block, senders, receipts, changes, consensusData: known.data, accessList };
  chain.commit(record, trie.nodes);
}

/**
 * Validates `block` and executes it on the state after `parent`, which is of the chain.
 * @throws as `importBlock`
 */
export function executeOn(
  parent: Header,
  block: Block,
  chain: Pick<ChainReader, "config" | "block" | "blockHash" | "stateAt">,
  execution: ExecutionModules,
  known: Parameters<typeof executeBlock>[3],
): BlockOutcome {
  // Our own chains make several blocks a second, and what was exported has to come in again.
  const rules = { isEqualTimeAllowed: true };
  validateHeader(block.header, parent, chain.config, rules);
  validateBody(block, chain.config, (hash) => chain.block(hash)?.block);
  const state = chain.stateAt(parent.number);
  const before = { header: parent, state, blockHash: (number: number) => chain.blockHash(number) };
  const outcome = executeBlock(block, before, execution, known);
  checkSenders(block, outcome.senders, state, chain.config);
  return outcome;
}

/** @throws InvalidBlockError */
function checkSenders(
  { transactions }: Block,
  senders: readonly Address[],
  state: StateReader,
  config: ChainConfig,
): void {
  for (const [index, tx] of transactions.entries()) {
    const missing = missingPermission(tx, senders[index]!, state, config);
    if (missing === undefined) continue;
    const details = { index, hash: tx.hash, reason: missing.code };
    throw new InvalidBlockError("BLOCK_INVALID_TRANSACTION", missing.text, details);
  }
}

import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { invariant } from "../../base/errors.ts";
import type { Genesis } from "../../base/params/genesis.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { type Chain, createChain } from "../../chain/chain.ts";
import { createChainStateTrie } from "../../chain/chain-state-trie.ts";
import { genesisState } from "../../chain/genesis-block.ts";
import { deferOn } from "../../chain/store/background-work.ts";
import type { CacheSizes } from "../../chain/store/cache-sizes.ts";
import type { LogBlockStore } from "../../chain/store/log-block-store.ts";
import { openDiskBlockStore } from "../../chain/store/open-block-store.ts";
import { BACKFILL_FOLDER } from "../../chain/store/replace-log.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { importFileBlock } from "./chain-file.ts";
import { ForkedImportError, type ImportSteps, importChainFile } from "./transfer-chain-file.ts";

type BackfilledChain = {
  readonly chain: Chain;
  readonly store: LogBlockStore;
  readonly genesis: Genesis;
};

export type BackfillOptions = {
  /** The data directory of `opened`. */
  readonly directory: string;
  readonly file: string;
  readonly caches: CacheSizes;
  readonly steps: (chain: Chain) => ImportSteps;
  /** Executes blocks on the chain of the new store. */
  readonly executionOf: (chain: Chain) => ExecutionModules;
  /** Called by name, for tests that crash there. */
  readonly failPoint?: (name: string) => void;
};

type BackfillResult = {
  readonly imported: number;
  readonly skipped: number;
  /** The new store has every block of the chain, so its log may replace the old one. */
  readonly isComplete: boolean;
};

/**
 * Executes the blocks before the base of a chain, from block 0 on, in a separate store, then copies the blocks from the base on. The base proves
 * the file: by its parent hash and, since it is executed too, by its state root. A call that ends early leaves a store from which the next call
 * continues, with the same file or a later part of it.
 * @throws ForkedImportError for a file of another chain; imported blocks are removed if the base does not follow them
 */
export async function backfill(
  opened: BackfilledChain,
  { directory, file, caches, steps, executionOf, failPoint = () => {} }: BackfillOptions,
  modules: { readonly log: Logger; readonly timers: Timers },
): Promise<BackfillResult> {
  const folder = join(directory, BACKFILL_FOLDER);
  const base = opened.store.base() ?? 0;
  const target = openTarget(opened, folder, { ...modules, caches });
  let isOfOtherChain = false;
  try {
    const { chain } = target;
    const head = () => chain.head().block.header.number;
    const { mayContinue, ...others } = steps(chain);
    const counts = await importChainFile(
      file,
      { ...modules, chain },
      { ...others, mayContinue: () => head() < base - 1 && mayContinue() },
    );
    failPoint("backfill:imported");
    if (head() < base - 1) return { ...counts, isComplete: false };
    dropDifferent(chain, opened, base);
    if (head() === base - 1) {
      const { block } = opened.chain.block(base)!;
      const ours = block.header.parentHash;
      const theirs = chain.head().block.hash;
      isOfOtherChain = ours !== theirs;
      if (isOfOtherChain) throw new ForkedImportError({ number: base - 1, ours, theirs });
      // Executed, because the old store holds the whole state as the base's changes.
      const consensusData = opened.chain.consensusDataOf(base);
      importFileBlock(chain, { block, consensusData }, executionOf(chain));
      failPoint("backfill:base");
    }
    const last = opened.chain.head().block.header.number;
    while (head() < last && mayContinue()) {
      copyBlock(chain, opened, head() + 1);
      await setImmediate();
    }
    failPoint("backfill:copied");
    return { ...counts, isComplete: head() === last };
  } finally {
    target.close();
    if (isOfOtherChain) rmSync(folder, { recursive: true, force: true });
  }
}

function openTarget(
  { chain: { genesisConfig: config, genesisHash }, genesis }: BackfilledChain,
  directory: string,
  { caches, log, timers }: { readonly caches: CacheSizes; readonly log: Logger; readonly timers: Timers },
) {
  const logger = log.child("backfill");
  const store = openDiskBlockStore({ directory, createTrie: createStateTrie, caches, logger, defer: deferOn(timers) });
  try {
    const stateTrie = createChainStateTrie(store, { cacheBytes: caches.trieNodes });
    if (store.head() === undefined) store.appendGenesis(genesisState(genesis));
    const chain = createChain({ config, store, stateTrie, log: logger, genesisHash });
    return { chain, close: () => store.close() };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Removes blocks that an earlier call copied and that were rolled back since. */
function dropDifferent(chain: Chain, opened: BackfilledChain, base: number): void {
  const { number } = chain.head().block.header;
  if (number >= base && opened.chain.blockHash(number) !== chain.blockHash(number)) {
    chain.rollbackTo(base - 1);
  }
}

function copyBlock(chain: Chain, { store }: Pick<BackfilledChain, "store">, number: number): void {
  const record = {
    ...store.block(number)!,
    changes: store.changes(number),
    consensusData: store.consensusDataOf(number),
    accessList: store.accessList(number),
  };
  const { root, nodes } = chain.stateTrie.update(chain.head().block.header.stateRoot, record.changes);
  invariant(root === record.block.header.stateRoot, `the state after block ${number} must stay the same`);
  chain.commit(record, nodes);
}

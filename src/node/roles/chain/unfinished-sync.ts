import { existsSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Logger } from "../../../base/telemetry/logger.ts";
import { deferNothing } from "../../../chain/store/background-work.ts";
import { openDiskBlockStore } from "../../../chain/store/open-block-store.ts";
import { createStateTrie } from "../../../evm/state/state-trie.ts";
import { syncDirectory } from "../../../store/storage/make-folder.ts";

/**
 * Whether the store at `data` holds only the block of a snapshot. If CometBFT's store is empty as well, the machine crashed between the two
 * during a state sync: CometBFT would need all blocks from the first on, which this chain does not have.
 * @throws errors of opening a store
 */
export function isSnapshotAlone(data: string): boolean {
  const store = openDiskBlockStore({ defer: deferNothing, directory: data, createTrie: createStateTrie });
  try {
    const head = store.head();
    return head !== undefined && head > 0 && head === store.base();
  } finally {
    store.close();
  }
}

/**
 * The data directory of a home while its snapshot is fetched again. Besides the snapshot it holds transactions that are in no block yet: callers
 * sent them after the node had started without CometBFT.
 */
export class UnfinishedSync {
  readonly #data: string;
  readonly #pool: string;
  readonly #former: string;

  /** @param pool the directory of waiting transactions in `data` */
  constructor(data: string, pool: string) {
    this.#data = data;
    this.#pool = pool;
    this.#former = `${data}.unfinished`;
  }

  /** Makes room for another snapshot, durably. */
  begin(): void {
    // Leftovers of an earlier call are older: their transactions are back in `data`.
    rmSync(this.#former, { recursive: true, force: true });
    renameSync(this.#data, this.#former);
    syncDirectory(dirname(this.#data));
  }

  /** Moves the transactions into the restored chain. Can be interrupted at any step and repeated. */
  end(log: Logger): void {
    if (!existsSync(this.#former) || !existsSync(this.#data)) return;
    const waiting = join(this.#former, basename(this.#pool));
    if (existsSync(waiting) && !existsSync(this.#pool)) {
      renameSync(waiting, this.#pool);
      syncDirectory(this.#data);
      log.info("recovered waiting transactions from an unfinished state sync");
    }
    rmSync(this.#former, { recursive: true, force: true });
  }
}

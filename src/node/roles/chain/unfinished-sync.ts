import { existsSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Logger } from "../../../base/telemetry/logger.ts";
import { deferNothing } from "../../../chain/store/background-work.ts";
import { openDiskBlockStore } from "../../../chain/store/open-block-store.ts";
import { createStateTrie } from "../../../evm/state/state-trie.ts";
import { syncDirectory } from "../../../store/storage/make-folder.ts";

/**
 * Whether the store at `data` has one block, that of a snapshot, and none after it. Where CometBFT has stored nothing either, the machine went down between the
 * two in the middle of a state sync: CometBFT would want all blocks from the first on, which this chain has not.
 * @throws what opening a store throws
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
 * The data directory of a home while its snapshot is fetched once more. What it has besides the snapshot is in no block yet: the transactions that
 * callers gave to the node after it had started without CometBFT.
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
    // What a former call has left is older: its transactions came back into `data`.
    rmSync(this.#former, { recursive: true, force: true });
    renameSync(this.#data, this.#former);
    syncDirectory(dirname(this.#data));
  }

  /** Takes the transactions into a chain that is there again. It may have been stopped at any step. */
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

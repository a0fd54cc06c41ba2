import { NodeError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";

/** The chain is ahead of CometBFT's store, and only an operator can decide which is right. */
class RollbackRefusedError extends NodeError {
  readonly code = "ENGINE_ROLLBACK_REFUSED";
}

type StoreRollbackOptions = {
  /** First height that the engine decides: it has no other copy of earlier blocks. */
  readonly initialHeight: number;
  /** To remove more, the engine fetches them again from its peers instead. */
  readonly blocksMax: number;
};

type StoreRollbackModules = {
  /** Height of the last committed block. */
  readonly height: () => number;
  /** The oldest block that can become the head again. */
  readonly oldest: () => number;
  /** Height of the last block in the engine's store, which must not be open. */
  readonly storeHeight: () => Promise<number>;
  /** Writes blocks `first` to `last` to a file, durably. @returns its path */
  readonly setAside: (first: number, last: number) => Promise<string>;
  /** Makes `height` the head again. */
  readonly rollbackTo: (height: number) => void;
  /** Lets the engine fetch again the blocks after `height`, which the chain has. */
  readonly catchUpFrom: (height: number) => void;
  readonly log: Logger;
};

/**
 * Reconciles CometBFT's store with a chain that is ahead of it. That happens if the store was restored from a copy or lost its end: CometBFT
 * syncs a block before the application commits it. A few blocks are written to a file and removed from the chain: the network may have decided
 * others. If more would have to go, all stay, and CometBFT fetches them again.
 */
export class StoreRollback {
  readonly #options: StoreRollbackOptions;
  readonly #modules: StoreRollbackModules;

  constructor(options: StoreRollbackOptions, modules: StoreRollbackModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /**
   * @param claimed the height of its store that CometBFT reported when it ended
   * @throws RollbackRefusedError, and errors of reading the store, writing the file and `catchUpFrom`; the chain is then unchanged
   */
  async run(claimed: number): Promise<void> {
    const { log, catchUpFrom } = this.#modules;
    const { initialHeight, blocksMax } = this.#options;
    const to = await this.#modules.storeHeight();
    const from = this.#modules.height();
    if (to !== claimed || to >= from) {
      throw new RollbackRefusedError(
        `the chain ends at block ${from}, CometBFT's store at block ${to}, although it reported ${claimed}: nothing was removed`,
        { claimed, from, to },
      );
    }
    // CometBFT stores a block before its results. It computes missing results only if the block is not executed yet.
    const last = Math.max(to - 1, Math.min(to, this.#modules.oldest()));
    if (to < initialHeight || from - last > blocksMax) {
      catchUpFrom(Math.max(last, initialHeight - 1));
      return;
    }
    const file = await this.#modules.setAside(last + 1, from);
    log.warn("the engine's store ends before the chain: rolling back to it", { from, to: last, file });
    this.#modules.rollbackTo(last);
  }
}

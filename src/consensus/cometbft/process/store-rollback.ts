import { NodeError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";

/** The chain is ahead of CometBFT's store, and only an operator can decide which is right. */
class RollbackRefusedError extends NodeError {
  readonly code = "ENGINE_ROLLBACK_REFUSED";
}

type StoreRollbackOptions = {
  /** Height of the first block that the engine decides: it has no other copy of those before. */
  readonly initialHeight: number;
  /** Where more are to be removed, the engine gets them again from its peers. */
  readonly blocksMax: number;
};

type StoreRollbackModules = {
  /** Height of the last committed block. */
  readonly height: () => number;
  /** The first block that can be the head again. */
  readonly oldest: () => number;
  /** Height of the last block in the engine's store, which no process has open. */
  readonly storeHeight: () => Promise<number>;
  /** Writes blocks `first` to `last` to a file, durably; its path. */
  readonly setAside: (first: number, last: number) => Promise<string>;
  /** Makes `height` the head again. */
  readonly rollbackTo: (height: number) => void;
  /** Lets the engine get the blocks after `height` again, which the chain has. */
  readonly catchUpFrom: (height: number) => void;
  readonly log: Logger;
};

/**
 * Brings CometBFT's store and a chain that is ahead of it together again. That happens where the store was restored from a copy or lost its end: CometBFT
 * syncs a block before the application commits it. A few blocks are removed from the chain, after they are in a file: the network may have decided
 * others. Where more would have to go, all stay, and CometBFT gets them again.
 */
export class StoreRollback {
  readonly #options: StoreRollbackOptions;
  readonly #modules: StoreRollbackModules;

  constructor(options: StoreRollbackOptions, modules: StoreRollbackModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /**
   * @param claimed the height of its store, as CometBFT named it when it ended
   * @throws RollbackRefusedError, and what reading the store, writing the file and `catchUpFrom` throw; the chain is then as it was
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

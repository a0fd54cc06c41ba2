import { NodeError } from "../../errors.ts";
import type { Logger } from "../../telemetry/logger.ts";

/** The chain is ahead of CometBFT's store, and only an operator can say which of the two is right. */
export class RollbackRefusedError extends NodeError {
  readonly code = "ENGINE_ROLLBACK_REFUSED";
}

export type StoreRollbackOptions = {
  /** Height of the first block that the engine decides: it has no other copy of those before. */
  readonly initialHeight: number;
  /** A longer rollback is the operator's decision. */
  readonly blocksMax: number;
};

export type StoreRollbackModules = {
  /** Height of the last committed block. */
  readonly height: () => number;
  /** Height of the last block in the engine's store, which no process has open. */
  readonly storeHeight: () => Promise<number>;
  /** Writes blocks `first` to `last` to a file, durably; its path. */
  readonly setAside: (first: number, last: number) => Promise<string>;
  /** Makes `height` the head again. */
  readonly rollbackTo: (height: number) => void;
  readonly log: Logger;
};

/**
 * Brings a chain that is ahead of CometBFT's store back to it. That happens where CometBFT's store was restored from a copy or lost its end:
 * it syncs a block before the application commits it. Blocks are removed only where the store itself has that height, not more than
 * `blocksMax` of them, never one that the engine has not decided, and after they are in a file.
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
   * @throws RollbackRefusedError, and what reading the store and writing the file throw; the chain is then as it was
   */
  async run(claimed: number): Promise<void> {
    const { log } = this.#modules;
    const to = await this.#modules.storeHeight();
    const from = this.#modules.height();
    this.#assertAllowed({ claimed, from, to });
    const file = await this.#modules.setAside(to + 1, from);
    log.warn("the engine's store ends before the chain: rolling back to it", { from, to, file });
    this.#modules.rollbackTo(to);
  }

  #assertAllowed(heights: {
    readonly claimed: number;
    readonly from: number;
    readonly to: number;
  }) {
    const { claimed, from, to } = heights;
    const { initialHeight, blocksMax } = this.#options;
    const ends = `the chain ends at block ${from} and the store of CometBFT at block ${to}`;
    if (to !== claimed || to >= from) {
      throw new RollbackRefusedError(
        `${ends}, which named ${claimed}: nothing was removed`,
        heights,
      );
    }
    if (to < initialHeight - 1) {
      throw new RollbackRefusedError(
        `${ends}, before the first block it decides, ${initialHeight}: nothing was removed; restore cometbft/data/ from a copy, except priv_validator_state.json`,
        heights,
      );
    }
    if (from - to > blocksMax) {
      throw new RollbackRefusedError(
        `${ends}, more than cometbft.rollback-blocks (${blocksMax}) before it: nothing was removed; restore cometbft/data/, except priv_validator_state.json, or stop the node and remove the blocks with: evmintd rollback ${from - to}`,
        heights,
      );
    }
  }
}

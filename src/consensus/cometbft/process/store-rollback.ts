import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { NodeError } from "../../../errors.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import { ENGINE_RPC_SOCKET } from "../home/config.ts";
import { engineRpcSocket } from "../home/home.ts";
import { EngineRpcError } from "../rpc/answers.ts";
import { createEngineRpc } from "../rpc/client.ts";

/** The chain is ahead of CometBFT's store, and only an operator can say which of the two is right. */
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
        `the chain ends at block ${from} and the store of CometBFT at block ${to}, which named ${claimed}: nothing was removed`,
        { claimed, from, to },
      );
    }
    if (to < initialHeight || from - to > blocksMax) {
      catchUpFrom(Math.max(to, initialHeight - 1));
      return;
    }
    const file = await this.#modules.setAside(to + 1, from);
    log.warn("the engine's store ends before the chain: rolling back to it", { from, to, file });
    this.#modules.rollbackTo(to);
  }
}

/** Opening the store after a kill replays its journal, which has a few megabytes. */
const WAIT_MS = 60_000;
const POLL_MS = 100;
const STOP_GRACE_MS = 5_000;

/**
 * Height of the newest block in CometBFT's store, 0 for an empty one, while CometBFT does not run: `cometbft inspect` opens the store, which it
 * locks, and serves it.
 * @param directory CometBFT's home
 * @throws EngineRpcError where it cannot be read
 */
export async function readStoreHeight(options: {
  readonly binary: string;
  readonly directory: string;
}): Promise<number> {
  const { binary, directory } = options;
  const path = engineRpcSocket(directory);
  rmSync(path, { force: true });
  const child = spawn(binary, ["inspect", "--home", directory, "--rpc.laddr", `unix://${ENGINE_RPC_SOCKET}`], {
    stdio: "ignore",
    cwd: directory,
  });
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isRunning = false;
      resolve();
    };
    child.once("error", end);
    child.once("close", end);
  });
  const rpc = createEngineRpc(path);
  const until = performance.now() + WAIT_MS;
  let cause: unknown;
  try {
    while (isRunning && performance.now() < until) {
      try {
        return await rpc.storeHeight();
      } catch (error) {
        cause = error;
      }
      await setTimeout(POLL_MS);
    }
  } finally {
    child.kill("SIGTERM");
    await Promise.race([ended, setTimeout(STOP_GRACE_MS, undefined, { ref: false })]);
    child.kill("SIGKILL");
    await ended;
    rmSync(path, { force: true });
  }
  throw new EngineRpcError("the store of CometBFT cannot be read", { directory }, { cause });
}

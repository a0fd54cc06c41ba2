import { closeSync, openSync } from "node:fs";
import { startThread } from "../../../base/threads/start-thread.ts";
import { KvDamagedError, type PinnedPages } from "../kv.ts";
import { beginFileCheck, type FileCheck } from "./lmdb-file-check.ts";
import { LmdbFault } from "./lmdb-tree-check.ts";

export type BackgroundCheckData = {
  readonly check: FileCheck;
  /** 1 once the result is no longer needed. */
  readonly stopped: Int32Array<SharedArrayBuffer>;
};

export type CheckResult = { readonly fault: string | undefined };

export type BackgroundCheckEvents = {
  /** Called with what `findLmdbFault` would have returned. Not after `stop`. */
  readonly onEnded: (fault: string | undefined) => void;
  /** Called where the thread failed, so that nothing is known. */
  readonly onFailed: (error: Error) => void;
};

/** Checks a data file in use, as its last commit left it, in a separate thread. */
export class BackgroundLmdbCheck {
  readonly #stopped = new Int32Array(new SharedArrayBuffer(4));
  readonly #file: number;
  readonly #check: FileCheck;
  readonly #pinned: PinnedPages;
  #hasStarted = false;
  #hasEnded = false;

  /**
   * Between two transactions.
   * @param pinned the pages of the last of them, which this releases
   * @throws KvDamagedError
   */
  constructor(path: string, pinned: PinnedPages) {
    this.#pinned = pinned;
    this.#file = openSync(path, "r");
    try {
      this.#check = beginFileCheck(this.#file);
    } catch (error) {
      this.stop();
      throw error instanceof LmdbFault ? new KvDamagedError(`index file is damaged: ${error.message}`) : error;
    }
  }

  start({ onEnded, onFailed }: BackgroundCheckEvents): void {
    this.#hasStarted = true;
    const workerData: BackgroundCheckData = { check: this.#check, stopped: this.#stopped };
    const worker = startThread("store/storage/lmdb/check-file.thread", { workerData });
    worker.unref();
    worker.on("message", ({ fault }: CheckResult) => {
      if (this.#end()) onEnded(fault);
    });
    worker.on("error", (error) => {
      if (this.#end()) onFailed(error);
    });
    // It may read the file until then.
    worker.on("exit", () => closeSync(this.#file));
  }

  /** The thread ends some milliseconds later. */
  stop(): void {
    Atomics.store(this.#stopped, 0, 1);
    if (this.#end() && !this.#hasStarted) closeSync(this.#file);
  }

  /** False where it had ended before. */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#pinned.release();
    return true;
  }
}

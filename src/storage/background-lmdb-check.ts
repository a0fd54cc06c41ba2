import { closeSync, openSync } from "node:fs";
import { startThread } from "../threads/start-thread.ts";
import type { KeptPages } from "./kv.ts";
import { beginFileCheck, type FileCheck } from "./lmdb-file-check.ts";

/** Added to the thread's nice value: it gets what others leave. */
export const NICE = 10;

export type BackgroundCheckData = {
  readonly check: FileCheck;
  /** 1 once nobody needs the result. */
  readonly stopped: Int32Array<SharedArrayBuffer>;
};

export type CheckResult = { readonly fault: string | undefined };

export type BackgroundCheckOptions = {
  /** The pages of the last commit, which stay as they are until the check has ended. */
  readonly kept: KeptPages;
  /** Called with what `findLmdbFault` would have returned. Not after `stop`. */
  readonly onEnded: (fault: string | undefined) => void;
  /** Called where the thread failed, so that nothing is known. */
  readonly onFailed: (error: Error) => void;
};

/** A check of a data file that is in use, as its last commit left it, in a thread that gets half of a processor at most. */
export class BackgroundLmdbCheck {
  readonly #stopped = new Int32Array(new SharedArrayBuffer(4));
  readonly #kept: KeptPages;
  #hasEnded = false;

  /** Between two transactions. @throws LmdbFault */
  constructor(path: string, { kept, onEnded, onFailed }: BackgroundCheckOptions) {
    this.#kept = kept;
    const file = openSync(path, "r");
    let check: FileCheck;
    try {
      check = beginFileCheck(file);
    } catch (error) {
      closeSync(file);
      this.#end();
      throw error;
    }
    const workerData: BackgroundCheckData = { check, stopped: this.#stopped };
    const worker = startThread("storage/check-file.thread", { workerData });
    worker.unref();
    worker.on("message", ({ fault }: CheckResult) => {
      if (this.#end()) onEnded(fault);
    });
    worker.on("error", (error) => {
      if (this.#end()) onFailed(error);
    });
    worker.on("exit", () => closeSync(file));
  }

  /** The thread ends some milliseconds later, by itself. */
  stop(): void {
    Atomics.store(this.#stopped, 0, 1);
    Atomics.notify(this.#stopped, 0);
    this.#end();
  }

  /** False where it had ended before. */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#kept.release();
    return true;
  }
}

import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { InvariantError } from "../../../base/errors.ts";
import { type NodeThread, startThread } from "../../../base/threads/start-thread.ts";
import { LmdbFault, type TreeCounts } from "./lmdb-tree-check.ts";
import { type SharedCheck, WORD } from "./shared-lmdb-check.ts";

/** What the thread found in its share. */
export type CheckShare = { readonly counts: TreeCounts } | { readonly fault: string } | { readonly error: string };

/** A thread that reads no page for so long has ended: a slow disk reads a MiB in a hundredth of it. */
const SILENCE_MS_MAX = 60_000;
const LOOK_MS = 1_000;

/** A thread that takes a share of a check, while this one does nothing else: it gets no events. */
export class CheckThread {
  readonly #shared: SharedCheck;
  readonly #worker: NodeThread;
  readonly #port: MessagePort;

  constructor(shared: SharedCheck) {
    const { port1, port2 } = new MessageChannel();
    this.#shared = shared;
    this.#port = port1;
    this.#worker = startThread("store/storage/lmdb/share-check.thread", {
      workerData: { port: port2, shared },
      transferList: [port2],
    });
    this.#worker.unref();
    port1.unref();
    // Where it could not be started, this thread does all of the work.
    this.#worker.on("error", () => {});
  }

  /** What its share counts; undefined where it has not begun with any. @throws LmdbFault */
  counts(): TreeCounts | undefined {
    if (!this.#hasBegun()) return undefined;
    this.#waitForEnd();
    const share = receiveMessageOnPort(this.#port)?.message as CheckShare | undefined;
    if (share !== undefined && "counts" in share) return share.counts;
    if (share !== undefined && "fault" in share) throw new LmdbFault(share.fault);
    throw new InvariantError(`a thread that checks the index must answer: ${share?.error}`);
  }

  /** Ends it. It has read its last page when this returns. */
  end(): void {
    const { words } = this.#shared;
    Atomics.store(words, WORD.stopped, 1);
    try {
      if (this.#hasBegun()) this.#waitForEnd();
    } finally {
      this.#port.close();
      void this.#worker.end();
    }
  }

  /** Whether the thread has begun; where it has not, it does not any more. */
  #hasBegun(): boolean {
    return Atomics.compareExchange(this.#shared.words, WORD.begun, 0, 2) === 1;
  }

  #waitForEnd(): void {
    const { words } = this.#shared;
    let known = Atomics.load(words, WORD.pages);
    let since = performance.now();
    while (Atomics.load(words, WORD.ended) === 0) {
      if (Atomics.wait(words, WORD.ended, 0, LOOK_MS) !== "timed-out") continue;
      const pages = Atomics.load(words, WORD.pages);
      if (pages !== known) [known, since] = [pages, performance.now()];
      else if (performance.now() - since > SILENCE_MS_MAX) {
        throw new InvariantError("a thread that checks the index must not end before its share");
      }
    }
  }
}

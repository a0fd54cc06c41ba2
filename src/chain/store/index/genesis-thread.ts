import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { WrittenRun } from "../../../storage/kv.ts";
import { type PackedRuns, unpackRuns } from "../../../storage/lmdb-build.ts";
import { type NodeThread, startThread } from "../../../threads/start-thread.ts";
import type { Row } from "./genesis-rows.ts";
import { type GenesisJob, GenesisThreadError, SILENCE_MS_MAX, STAGE, WORD, waitFor } from "./genesis-work.ts";

/** What another thread has written, as it sends it. */
export type GenesisShare = { readonly runs: PackedRuns; readonly early: readonly Row[] };

/** A thread that takes a share of the work of loading a genesis state, while this one does nothing else: it gets no events. */
export class GenesisThread {
  readonly #worker: NodeThread;
  readonly #port: MessagePort;
  #job: GenesisJob | undefined;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = startThread("chain/store/index/load-genesis.thread", { workerData: port2, transferList: [port2] });
    this.#worker.unref();
    port1.unref();
    // Where it could not be started, this thread does all of the work; where it fails, it says so in words that are shared.
    this.#worker.on("error", () => {});
  }

  begin(job: GenesisJob): void {
    this.#job = job;
    this.#port.postMessage(job);
  }

  /** Waits until it has written its share; undefined where it has not begun with any. @throws GenesisThreadError */
  share(job: GenesisJob): { readonly runs: readonly WrittenRun[]; readonly early: readonly Row[] } | undefined {
    if (!hasBegun(job)) return undefined;
    waitFor(job, WORD.ended, 1, SILENCE_MS_MAX);
    const share = receiveMessageOnPort(this.#port)?.message as GenesisShare | string | undefined;
    if (typeof share !== "object") throw new GenesisThreadError(share ?? "has sent nothing");
    return { runs: unpackRuns(share.runs), early: share.early };
  }

  /** Ends it. Where it has begun, it has written for the last time when this returns. */
  end(): void {
    try {
      if (this.#job !== undefined) stop(this.#job);
    } finally {
      this.#port.close();
      void this.#worker.end();
    }
  }
}

/** Starts it; undefined where there is no processor for it, and in a page. */
export function startGenesisThread(): GenesisThread | undefined {
  return availableParallelism() > 1 ? new GenesisThread() : undefined;
}

/** Waits until the thread has done what it was about to do. */
function stop(job: GenesisJob): void {
  Atomics.store(job.words, WORD.stage, STAGE.stopped);
  Atomics.notify(job.words, WORD.stage);
  if (hasBegun(job)) waitFor(job, WORD.ended, 1, SILENCE_MS_MAX);
}

/** Whether the thread has begun; where it has not, it does not any more. */
function hasBegun({ words }: GenesisJob): boolean {
  return Atomics.compareExchange(words, WORD.begun, 0, 2) === 1;
}

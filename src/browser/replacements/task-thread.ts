import type { PackedSidecar } from "../../crypto/kzg/sidecar.ts";
import type { WhisperWorkInput } from "../../node/workers/find-whisper-work.ts";
import type { WorkerEntry } from "../../node/workers/start-worker.ts";
import type * as Replaced from "../../node/workers/task-thread.ts";
import { WorkerTaskError } from "../../node/workers/worker-task-error.ts";
import { setImmediate } from "../platform/timers-promises.ts";

type Run = (input: never) => unknown;

/** What runs a task, loaded with what only it needs. */
const TASKS: Partial<Record<string, () => Promise<Run>>> = {
  "find-whisper-work": async () => {
    const { findWork } = await import("../../shh/proof-of-work.ts");
    return ({ seed, milliseconds }: WhisperWorkInput) => findWork(seed, milliseconds);
  },
  "prove-blobs": async () => {
    await loadTrustedSetup();
    return (await import("../../node/workers/prove-blobs.ts")).proveBlobs;
  },
  "recover-senders": async () =>
    (await import("../../node/workers/recover-senders.ts")).recoverPacked,
  "verify-sidecar": async () => {
    await loadTrustedSetup();
    const { unpackSidecar } = await import("../../crypto/kzg/sidecar.ts");
    const { VerifiedBlobs } = await import("../../crypto/kzg/verified-blobs.ts");
    const verified = new VerifiedBlobs();
    return (packed: PackedSidecar) => verified.faultOf(unpackSidecar(packed));
  },
};

async function loadTrustedSetup(): Promise<void> {
  await (await import("./trusted-setup-file.ts")).loadTrustedSetup();
}

/** Runs tasks one after the other on this thread: those of a dev chain are few. */
export class TaskThread<Input, Result> {
  readonly #entry: WorkerEntry;
  readonly #waitingMax: number;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  waiting = 0;

  constructor(entry: WorkerEntry, { waitingMax }: Replaced.TaskThreadOptions) {
    this.#entry = entry;
    this.#waitingMax = waitingMax;
  }

  isFull(): boolean {
    return this.waiting > this.#waitingMax;
  }

  /** @throws WorkerTaskError */
  run(input: Input): Promise<Result> {
    this.waiting++;
    const result = this.#last.then(() => this.#run(input));
    this.#last = result
      .catch(() => {})
      .finally(() => {
        this.waiting--;
      });
    return result;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #run(input: Input): Promise<Result> {
    // Other calls have their turn between two tasks.
    await setImmediate();
    if (this.#isClosed) throw new WorkerTaskError("the node stops", false);
    const load = TASKS[this.#entry];
    try {
      if (load === undefined) throw new Error(`no task "${this.#entry}" in a browser`);
      return (await (
        await load()
      )(input as never)) as Result;
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new WorkerTaskError(message, false, { cause });
    }
  }
}

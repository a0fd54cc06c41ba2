import type { Logger } from "../../base/telemetry/logger.ts";
import { BlockingThread, ThreadGivenUpError } from "../../base/threads/blocking-thread.ts";
import { ForkRemoteError } from "./errors.ts";
import type { FetchRemoteData, FetchRemoteHandlers } from "./fetch-remote.thread.ts";
import type { RemoteCall } from "./remote-calls.ts";

/** While the chain's thread waits, the node cannot answer. After this time a call fails with an error, and a block is tried again. */
const CALLS_MS_MAX = 30_000;
/** The thread aborts its own calls after CALLS_MS_MAX; one that has not done it so much later hangs. */
const GRACE_MS = 5_000;
/** Its heap: an answer of the largest size that is read fits several times. */
const HEAP_MB_MAX = 512;

type RemoteThreadOptions = FetchRemoteData & {
  /** Replaces CALLS_MS_MAX. */
  readonly callsMsMax?: number;
  /** Replaces HEAP_MB_MAX. */
  readonly heapMbMax?: number;
};

/** A thread that calls the remote chain while this one waits for the result. */
export class RemoteThread {
  readonly #thread: BlockingThread<FetchRemoteHandlers>;
  readonly #callsMsMax: number;
  readonly #log: Logger;
  #urls: readonly string[];

  constructor(options: RemoteThreadOptions, log: Logger) {
    const { urls, block, isVerified, access, callsMsMax = CALLS_MS_MAX, heapMbMax } = options;
    this.#urls = urls;
    this.#callsMsMax = callsMsMax;
    this.#log = log;
    this.#thread = new BlockingThread({
      entry: "dev/fork/fetch-remote.thread",
      data: (): FetchRemoteData => ({ urls: this.#urls, block, isVerified, access }),
      heapMegabytesMax: heapMbMax ?? HEAP_MB_MAX,
      onEnded: (error) => log.warn("thread of the fork ended; the next read starts it again", { error }),
    });
  }

  setUrls(urls: readonly string[]): void {
    this.#urls = urls;
    this.#thread.emit("setUrls", urls);
  }

  /** Results of `calls`, while this thread waits. @throws ForkRemoteError, and what `RemoteCalls` throw */
  call(calls: readonly RemoteCall[]): readonly unknown[] {
    const msMax = this.#callsMsMax;
    try {
      return this.#thread.call("fetch", { calls, msMax }, msMax + GRACE_MS);
    } catch (error) {
      if (!(error instanceof ThreadGivenUpError)) throw error;
      const reason = error.message;
      this.#log.warn("thread of the fork was given up; the next read starts it again", { reason });
      throw new ForkRemoteError(`the thread that calls the remote chain ${reason}`);
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

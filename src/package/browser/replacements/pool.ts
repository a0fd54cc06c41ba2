import type { PackedSidecar } from "../../../base/crypto/kzg/sidecar.ts";
import type { Handlers, InputOf, ResultOf } from "../../../base/threads/channel.ts";
import type * as Replaced from "../../../base/threads/pool.ts";
import type { ThreadEntry } from "../../../base/threads/start-thread.ts";
import { setImmediate } from "../platform/timers-promises.ts";

/** The functions that a thread would serve, loaded on demand. */
const HANDLERS: Partial<Record<ThreadEntry, () => Promise<Handlers>>> = {
  "heritage/shh/find-work.thread": async () => {
    const { findWork } = await import("../../../heritage/shh/proof-of-work.ts");
    return {
      find: (input: { readonly seed: Uint8Array; readonly milliseconds: number }) =>
        findWork(input.seed, input.milliseconds),
    };
  },
  "base/crypto/kzg/prove-blobs.thread": async () => {
    await loadTrustedSetup();
    return (await import("../../../base/crypto/kzg/prove-blobs.thread.ts")).proving;
  },
  "base/types/transaction/recover-authorities.thread": async () => {
    const { recoverAuthorities } = await import("../../../base/types/transaction/sender.ts");
    return { recoverAuthorities };
  },
  "base/types/transaction/recover-senders.thread": async () =>
    (await import("../../../base/types/transaction/recover-senders.thread.ts")).senderRecovery,
  "base/crypto/kzg/verify-sidecar.thread": async () => {
    await loadTrustedSetup();
    const { unpackSidecar } = await import("../../../base/crypto/kzg/sidecar.ts");
    const { VerifiedBlobs } = await import("../../../base/crypto/kzg/verified-blobs.ts");
    const verified = new VerifiedBlobs();
    return { faultOf: (packed: PackedSidecar) => verified.faultOf(unpackSidecar(packed)) };
  },
};

async function loadTrustedSetup(): Promise<void> {
  await (await import("./trusted-setup-file.ts")).loadTrustedSetup();
}

/** Never thrown here: without threads, calls fail in their function. */
export class ThreadLostError extends Error {
  readonly reason = "closed";
}

/** Runs calls one by one on this thread, since a dev chain has few. */
export class Pool<There extends Handlers> {
  readonly #entry: ThreadEntry;
  readonly #waitingMax: number;
  #handlers: Promise<Handlers> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  busy = 0;
  waiting = 0;

  constructor({ entry, waitingMax }: Replaced.PoolOptions) {
    this.#entry = entry;
    this.#waitingMax = waitingMax;
  }

  isFull(): boolean {
    return this.waiting >= this.#waitingMax;
  }

  call<Name extends keyof There & string>(name: Name, input: InputOf<There, Name>): Promise<ResultOf<There, Name>> {
    this.waiting++;
    const result = this.#last.then(async () => {
      this.waiting--;
      this.busy++;
      // Lets other calls run in between.
      await setImmediate();
      if (this.#isClosed) throw new ThreadLostError("the node stops");
      this.#handlers ??= this.#load();
      return (await this.#handlers)[name]!(input as never, undefined as never);
    });
    this.#last = result
      .catch(() => {})
      .finally(() => {
        this.busy--;
      });
    return result as Promise<ResultOf<There, Name>>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #load(): Promise<Handlers> {
    const load = HANDLERS[this.#entry];
    if (load === undefined) throw new Error(`nothing for "${this.#entry}" in a browser`);
    return load();
  }
}

import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { ForkRemoteError } from "../../dev/fork/errors.ts";
import type { RemoteCall } from "../../dev/fork/remote-calls.ts";
import { errorFromData } from "../../rpc/ports/channel/error-data.ts";
import type { Logger } from "../../telemetry/logger.ts";
import {
  FETCH_SIGNAL,
  type FetchRemoteData,
  type FetchReply,
  type FetchRequest,
} from "../workers/fetch-remote-protocol.ts";
import { startWorker, type WorkerThread } from "../workers/start-worker.ts";

/** While the chain's thread waits, the node answers nobody. A call that fails by then is answered with an error, and a block is tried again. */
const CALLS_MS_MAX = 30_000;
/** The thread ends its calls by itself after CALLS_MS_MAX; one that has not done it so much later hangs. */
const GRACE_MS = 5_000;
/** How often it is looked whether the thread is alive. */
const LOOK_MS = 250;
/** A thread without a beat for so long has ended: it decodes the largest answer in a fifth of that. While this thread waits, it gets no event of it. */
const SILENCE_MS_MAX = 2_000;
/** Starting it loads the program. */
const START_MS_MAX = 30_000;
/** Its heap: an answer of the largest size that is read fits several times. */
const HEAP_MB_MAX = 512;

export type RemoteThreadOptions = Pick<FetchRemoteData, "urls" | "block" | "isVerified"> & {
  /** In place of CALLS_MS_MAX. */
  readonly callsMsMax?: number;
  /** In place of HEAP_MB_MAX. */
  readonly heapMbMax?: number;
};

type Running = {
  readonly worker: WorkerThread;
  readonly port: MessagePort;
  readonly signal: Int32Array;
};

/**
 * A thread that calls the remote chain while this one waits for the result. It is started when it is needed: again after it has ended, and after it had to be
 * given up.
 */
export class RemoteThread {
  readonly #options: RemoteThreadOptions;
  readonly #log: Logger;
  #urls: readonly string[];
  #running: Running | undefined;
  /** Number of the newest request. */
  #id = 0;

  constructor(options: RemoteThreadOptions, log: Logger) {
    this.#options = options;
    this.#urls = options.urls;
    this.#log = log;
    // Ready when the first read comes.
    this.#start();
  }

  setUrls(urls: readonly string[]): void {
    this.#urls = urls;
    if (this.#running) send(this.#running, { urls });
  }

  /** Results of `calls`, while this thread waits. @throws ForkRemoteError, and what `RemoteCalls` throw */
  call(calls: readonly RemoteCall[]): readonly unknown[] {
    const msMax = this.#options.callsMsMax ?? CALLS_MS_MAX;
    const running = this.#running ?? this.#start();
    const id = ++this.#id;
    send(running, { id, calls, msMax });
    const reply = this.#wait(running, id, msMax + GRACE_MS);
    if ("error" in reply) throw errorFromData(reply.error);
    return reply.results;
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running) await end(running);
  }

  /** The reply to request `id`: others are those of calls that were given up. */
  #wait(running: Running, id: number, msMax: number): FetchReply {
    const { port, signal } = running;
    const begin = performance.now();
    let beats = Atomics.load(signal, FETCH_SIGNAL.beats);
    let alive = begin;
    while (true) {
      const replies = Atomics.load(signal, FETCH_SIGNAL.replies);
      const message = receiveMessageOnPort(port)?.message as FetchReply | undefined;
      if (message?.id === id) return message;
      if (message !== undefined) continue;
      const now = performance.now();
      if (now - begin > msMax) throw this.#giveUp(running, "does not answer");
      const newBeats = Atomics.load(signal, FETCH_SIGNAL.beats);
      if (newBeats !== beats) alive = now;
      beats = newBeats;
      const silenceMax = beats === 0 ? START_MS_MAX : SILENCE_MS_MAX;
      if (now - alive > silenceMax) throw this.#giveUp(running, "has ended");
      Atomics.wait(signal, FETCH_SIGNAL.replies, replies, LOOK_MS);
    }
  }

  #start(): Running {
    const { block, isVerified, heapMbMax = HEAP_MB_MAX } = this.#options;
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(8));
    const data: FetchRemoteData = { urls: this.#urls, block, isVerified, port: port2, signal };
    const worker = startWorker("fetch-remote", {
      workerData: data,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    });
    // Messages are taken by `receiveMessageOnPort` alone.
    port1.unref();
    worker.unref();
    const running = { worker, port: port1, signal };
    worker.on("error", (error) => {
      this.#log.warn("thread of the fork ended; the next read starts it again", { error });
    });
    worker.on("exit", () => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** Whatever it does from now on, nobody listens. */
  #giveUp(running: Running, what: string): ForkRemoteError {
    this.#running = undefined;
    end(running).catch((error: unknown) => {
      this.#log.warn("thread of the fork could not be ended", { error });
    });
    this.#log.warn("thread of the fork was given up; the next read starts it again", {
      reason: what,
    });
    return new ForkRemoteError(`the thread that calls the remote chain ${what}`);
  }
}

export function startRemoteThread(options: RemoteThreadOptions, log: Logger): RemoteThread {
  return new RemoteThread(options, log);
}

function send({ port }: Running, request: FetchRequest): void {
  port.postMessage(request);
}

async function end({ worker, port }: Running): Promise<void> {
  port.close();
  await worker.end();
}

import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { NodeError } from "../errors.ts";
import type { Timers } from "../telemetry/timers.ts";
import { type ChannelMessage, channelOver, type Handlers, type InputOf, type ResultOf } from "./channel.ts";
import { threadData } from "./native-calls.ts";
import { errorFromData } from "./plain-data.ts";
import { type NodeThread, startThread, type ThreadEntry } from "./start-thread.ts";
import { beginWait } from "./waits.ts";

/** The thread did not answer, or has ended: it was abandoned, and the next call starts another. */
export class ThreadGivenUpError extends NodeError {
  readonly code = "WORKER_GIVEN_UP";
}

/** Indexes of the shared words. */
const SIGNAL = {
  /** Changes with each message of the thread. */
  messages: 0,
  /** Changes every BEAT_MS while the thread is alive. */
  beats: 1,
} as const;
const BEAT_MS = 100;
/** Interval of checks whether the thread is alive. */
const LOOK_MS = 250;
/**
 * A thread without a beat for this long has ended: decoding the largest answer takes a fifth of it. A waiting thread gets no events that would
 * tell.
 */
const SILENCE_MS_MAX = 2_000;
/** The start includes loading the program. */
const START_MS_MAX = 30_000;

type BlockingThreadData = {
  readonly port: MessagePort;
  readonly signal: Int32Array;
  readonly data: unknown;
};

type BlockingThreadOptions = {
  /** The thread's module, which calls `serveBlockingThread`. */
  readonly entry: ThreadEntry;
  /** Data for that function in the thread; called at each start. */
  readonly data: () => unknown;
  /** Size of its JavaScript heap. */
  readonly heapMegabytesMax: number;
  readonly onEnded: (error: Error) => void;
};

type Running = Omit<BlockingThreadData, "data"> & { readonly worker: NodeThread };

/**
 * A thread that answers calls while this thread blocks, for code that needs an answer but cannot await a promise. It starts on demand, and again
 * after it has ended or was abandoned.
 */
export class BlockingThread<There extends Handlers> {
  readonly #options: BlockingThreadOptions;
  #running: Running | undefined;
  /** Number of the newest call. */
  #id = 0;

  constructor(options: BlockingThreadOptions) {
    this.#options = options;
    // Starts now, to be ready for the first call.
    this.#start();
  }

  /** Blocks until the answer. @throws ThreadGivenUpError after `msMax`, and errors of the thread's function */
  call<Name extends keyof There & string>(
    name: Name,
    input: InputOf<There, Name>,
    msMax: number,
  ): ResultOf<There, Name> {
    const running = this.#running ?? this.#start();
    const id = ++this.#id;
    post(running, { kind: "call", id, name, input });
    const answer = this.#wait(running, id, msMax);
    if (answer.kind === "error") throw errorFromData(answer.error);
    return answer.value as ResultOf<There, Name>;
  }

  /** Emits an event to the thread, if it runs. */
  emit<Name extends keyof There & string>(name: Name, input: InputOf<There, Name>): void {
    if (this.#running) post(this.#running, { kind: "event", name, input });
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running) await end(running);
  }

  /** The answer to call `id`; other answers belong to calls that timed out. */
  #wait(running: Running, id: number, msMax: number) {
    const { port, signal } = running;
    const begin = performance.now();
    let beats = Atomics.load(signal, SIGNAL.beats);
    let alive = begin;
    let ended: ReturnType<typeof beginWait>;
    while (true) {
      const messages = Atomics.load(signal, SIGNAL.messages);
      const message = receiveMessageOnPort(port)?.message as ChannelMessage | undefined;
      if (message?.kind === "result" || message?.kind === "error") {
        if (message.id === id) {
          ended?.();
          return message;
        }
      }
      if (message !== undefined) continue;
      const now = performance.now();
      if (now - begin > msMax) throw this.#giveUp(running, "does not answer");
      const newBeats = Atomics.load(signal, SIGNAL.beats);
      if (newBeats !== beats) alive = now;
      beats = newBeats;
      const silenceMax = beats === 0 ? START_MS_MAX : SILENCE_MS_MAX;
      if (now - alive > silenceMax) throw this.#giveUp(running, "has ended");
      ended ??= beginWait("answer of a thread");
      Atomics.wait(signal, SIGNAL.messages, messages, LOOK_MS);
    }
  }

  #start(): Running {
    const { entry, data, heapMegabytesMax, onEnded } = this.#options;
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(8));
    const workerData: BlockingThreadData = { port: port2, signal, data: data() };
    const worker = startThread(entry, {
      workerData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    // Only `receiveMessageOnPort` takes messages.
    port1.unref();
    worker.unref();
    const running = { worker, port: port1, signal };
    worker.on("error", onEnded);
    worker.on("exit", () => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** Ignores the thread from now on. */
  #giveUp(running: Running, what: string): ThreadGivenUpError {
    this.#running = undefined;
    end(running).catch(this.#options.onEnded);
    return new ThreadGivenUpError(what);
  }
}

function post({ port }: Running, message: ChannelMessage): void {
  port.postMessage(message);
}

async function end({ worker, port }: Running): Promise<void> {
  port.close();
  await worker.end();
}

/** Answers the calls of the thread's `BlockingThread`. @param handlers made from the result of `data` */
export function serveBlockingThread<Data>(handlers: (data: Data) => Handlers, timers: Pick<Timers, "every">): void {
  const { port, signal, data } = threadData<BlockingThreadData>();
  const advance = (index: number) => {
    Atomics.add(signal, index, 1);
    Atomics.notify(signal, index);
  };
  const end = {
    on: (event: "message", listener: (message: ChannelMessage) => void) => port.on(event, listener),
    postMessage(message: unknown, moved?: readonly ArrayBuffer[]) {
      port.postMessage(message, moved);
      advance(SIGNAL.messages);
    },
  };
  channelOver(end, handlers(data as Data));
  timers.every(BEAT_MS, "beat of a thread", () => advance(SIGNAL.beats));
}

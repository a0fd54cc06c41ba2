import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { NodeError } from "../errors.ts";
import type { Timers } from "../telemetry/timers.ts";
import { type ChannelMessage, channelOver, type Handlers, type InputOf, type ResultOf } from "./channel.ts";
import { threadData } from "./native-calls.ts";
import { errorFromData } from "./plain-data.ts";
import { type NodeThread, startThread, type ThreadEntry } from "./start-thread.ts";
import { beginWait } from "./waits.ts";

/** The thread did not answer, or has ended: it was given up, and the next call starts another. */
export class ThreadGivenUpError extends NodeError {
  readonly code = "WORKER_GIVEN_UP";
}

/** Indexes of the words that both threads share. */
const SIGNAL = {
  /** Is another number after each message of the thread. */
  messages: 0,
  /** Is another number after each BEAT_MS in which the thread was alive. */
  beats: 1,
} as const;
const BEAT_MS = 100;
/** How often it is looked whether the thread is alive. */
const LOOK_MS = 250;
/** A thread without a beat for so long has ended: it decodes the largest answer in a fifth of that. While this thread waits, it gets no event of it. */
const SILENCE_MS_MAX = 2_000;
/** Starting it loads the program. */
const START_MS_MAX = 30_000;

type BlockingThreadData = {
  readonly port: MessagePort;
  readonly signal: Int32Array;
  readonly data: unknown;
};

type BlockingThreadOptions = {
  /** The module that the thread runs, which calls `serveBlockingThread`. */
  readonly entry: ThreadEntry;
  /** What that function answers in the thread; asked for at each start. */
  readonly data: () => unknown;
  /** Of its JavaScript heap. */
  readonly heapMegabytesMax: number;
  readonly onEnded: (error: Error) => void;
};

type Running = Omit<BlockingThreadData, "data"> & { readonly worker: NodeThread };

/**
 * A thread that answers calls while this one waits, because code that cannot wait for a promise needs the answer. It is started when it is
 * needed: again after it has ended, and after it had to be given up.
 */
export class BlockingThread<There extends Handlers> {
  readonly #options: BlockingThreadOptions;
  #running: Running | undefined;
  /** Number of the newest call. */
  #id = 0;

  constructor(options: BlockingThreadOptions) {
    this.#options = options;
    // Ready when the first call comes.
    this.#start();
  }

  /** Waits for the answer. @throws ThreadGivenUpError after `msMax`, and errors of the thread's function */
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

  /** No one listens to the thread from here on. */
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

/** In the thread: answers the calls of its `BlockingThread`. @param handlers made of what `data` answered */
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

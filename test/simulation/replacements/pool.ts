/** Threads of a simulated node: calls run beside its main thread, one after the other in each thread, and take simulated time. */

import { type PackedSidecar, unpackSidecar } from "../../../src/base/crypto/kzg/sidecar.ts";
import { VerifiedBlobs } from "../../../src/base/crypto/kzg/verified-blobs.ts";
import { NodeError } from "../../../src/base/errors.ts";
import { type Handlers, Moved } from "../../../src/base/threads/channel.ts";
import type * as Replaced from "../../../src/base/threads/pool.ts";
import {
  type ExecutionRequest,
  type ExecutionThreadData,
  FollowingExecution,
} from "../../../src/node/calls/following-execution.ts";
import {
  FollowingSpeculation,
  type SentTransactions,
  type SpeculationThreadData,
} from "../../../src/node/calls/following-speculation.ts";
import { RequestedModules } from "../../../src/node/compiled-contracts/requested-modules.ts";
import { chargeTo } from "../kernel/charge.ts";
import { currentProcess } from "../kernel/current.ts";
import type { SimulatedProcess } from "../kernel/process.ts";
import type { Random } from "../kernel/random.ts";
import { drawHandOver, type HandOver, PROMPT, shuffledTransactions } from "./hand-over.ts";

export class ThreadLostError extends NodeError {
  readonly code = "WORKER_TASK_FAILED";
  readonly reason: "crash" | "timeout" | "closed";
  constructor(message: string, reason: "crash" | "timeout" | "closed" = "closed") {
    super(message);
    this.reason = reason;
  }
}

export class CallAbortedError extends NodeError {
  readonly code = "WORKER_TASK_ABORTED";
}

/** A module that threads run. */
type ThreadModule = {
  /** What one thread serves. @param data `threadData` */
  readonly start: (data: unknown) => { readonly handlers: Handlers; readonly everySecond?: () => void };
  /** Milliseconds of a call beside what is charged, at most: mostly it takes a hundredth. */
  readonly msMax: number;
  /** How an answer comes, and whether it does; undefined: at once. */
  readonly handOver?: (random: Random) => HandOver;
};

const MODULES: Readonly<Record<string, ThreadModule>> = {
  "base/crypto/kzg/verify-sidecar.thread": {
    start() {
      const verified = new VerifiedBlobs();
      return { handlers: { faultOf: (packed: PackedSidecar) => verified.faultOf(unpackSidecar(packed)) } };
    },
    msMax: 1,
  },
  "node/calls/execute.thread": {
    start(data) {
      const compiler = new RequestedModules(() => Promise.resolve(undefined));
      const execution = new FollowingExecution(data as ExecutionThreadData, { compiler, collectGarbage() {} });
      return {
        handlers: { execute: (request: ExecutionRequest) => execution.execute(request) },
        everySecond: () => execution.releaseRemoved(),
      };
    },
    // The processor is there for other threads too.
    msMax: 100,
  },
  "node/calls/speculate.thread": {
    start(data) {
      const compiler = new RequestedModules(() => Promise.resolve(undefined));
      const speculation = new FollowingSpeculation(data as SpeculationThreadData, compiler);
      return {
        handlers: { speculate: (sent: SentTransactions) => speculation.speculate(sent) },
        everySecond: () => speculation.releaseRemoved(),
      };
    },
    msMax: 20,
    handOver: drawHandOver,
  },
};

/** Number of a process's pools with the same module so far: each has a separate random stream. */
const pools = new WeakMap<SimulatedProcess, Map<string, number>>();

/** Loading the modules of a thread. */
const START_MS = 300;
const SECOND_MS = 1_000;

type Task = {
  readonly name: string;
  readonly input: unknown;
  readonly options: Partial<Replaced.PoolCallOptions>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

type Thread = {
  handlers: Handlers | undefined;
  task: Task | undefined;
  /** Descriptors that it has opened: they are closed with it. */
  readonly files: Set<number>;
  hasEnded: boolean;
};

export class Pool {
  readonly #module: ThreadModule | undefined;
  readonly #options: Replaced.PoolOptions;
  readonly #process = currentProcess();
  readonly #random: Random;
  readonly #threads: Thread[] = [];
  readonly #waiting: Task[] = [];
  #isClosed = false;

  constructor(options: Replaced.PoolOptions) {
    const { entry } = options;
    this.#options = options;
    this.#module = MODULES[entry];
    const counts = pools.get(this.#process) ?? new Map<string, number>();
    const before = counts.get(entry) ?? 0;
    pools.set(this.#process, counts.set(entry, before + 1));
    const name = `${entry} of ${this.#process.id}${before > 0 ? `, ${before} before it` : ""}`;
    this.#random = this.#process.simulation.random.stream(name);
  }

  get busy(): number {
    return this.#threads.filter(({ task }) => task !== undefined).length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isReady(): boolean {
    return this.#threads.some(({ handlers }) => handlers !== undefined);
  }

  get isSaturated(): boolean {
    return this.busy >= this.#options.count;
  }

  isFull(): boolean {
    return this.waiting >= this.#options.waitingMax;
  }

  warmUp(): void {}
  emit(): void {}

  call(name: string, input: unknown, options: Partial<Replaced.PoolCallOptions> = {}): Promise<unknown> {
    if (this.#isClosed || this.#module === undefined) {
      return Promise.reject(new ThreadLostError(`${this.#options.entry} has no ${name} in a simulation`));
    }
    return new Promise((resolve, reject) => {
      // What is not moved is copied when it is sent.
      const sent = options.moved === undefined ? structuredClone(input) : input;
      this.#waiting.push({ name, input: sent, options, resolve, reject });
      this.#assign();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const running = this.#threads.flatMap(({ task }) => task ?? []);
    for (const { reject } of [...running, ...this.#waiting.splice(0)]) reject(new ThreadLostError("the node stops"));
    this.#threads.length = 0;
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#threads.find(({ task }) => task === undefined) ?? this.#start();
      if (thread === undefined) return;
      const task = this.#waiting.shift()!;
      thread.task = task;
      const handOver = this.#module!.handOver?.(this.#random) ?? PROMPT;
      const startMs = thread.handlers === undefined ? START_MS : 0;
      if (handOver.isLost) this.#process.after(startMs + handOver.beforeMs, () => this.#lose(thread, task, handOver));
      else this.#process.after(startMs + handOver.beforeMs, () => this.#run(thread, task, handOver));
    }
  }

  /** The thread ends without an answer, or never gives one: another one takes its place. */
  #lose(thread: Thread, { reject }: Task, { afterMs }: HandOver): void {
    this.#process.after(afterMs, () => {
      if (this.#isClosed) return;
      this.#threads.splice(this.#threads.indexOf(thread), 1);
      this.#end(thread);
      reject(new ThreadLostError("a thread of the simulation ended", afterMs > 0 ? "timeout" : "crash"));
      this.#assign();
    });
  }

  /** undefined: there are as many as there may be. */
  #start(): Thread | undefined {
    if (this.#threads.length >= this.#options.count) return undefined;
    const thread: Thread = { handlers: undefined, task: undefined, files: new Set(), hasEnded: false };
    this.#threads.push(thread);
    return thread;
  }

  #end(thread: Thread): void {
    thread.hasEnded = true;
    const { files } = this.#process;
    for (const descriptor of thread.files) {
      files.get(descriptor)?.close();
      files.delete(descriptor);
    }
  }

  /** Runs `work` as the thread, whose files those are that are opened in it. */
  #as<T>(thread: Thread, work: () => T): T {
    const { files } = this.#process;
    const before = new Set(files.keys());
    try {
      return work();
    } finally {
      for (const descriptor of files.keys()) if (!before.has(descriptor)) thread.files.add(descriptor);
    }
  }

  #run(thread: Thread, task: Task, { isShuffled, afterMs }: HandOver): void {
    if (this.#isClosed) return;
    const input = isShuffled ? shuffledTransactions(task.input as SentTransactions, this.#random) : task.input;
    let ms = this.#random.fraction() * this.#module!.msMax * (this.#random.chance(0.1) ? 1 : 0.01);
    let settle: () => void;
    try {
      const value = chargeTo(
        (charged) => (ms += charged),
        () => this.#as(thread, () => this.#handlersOf(thread)[task.name]!(input as never, undefined as never)),
      );
      const result = value instanceof Moved ? value.value : structuredClone(value);
      settle = () => this.#answer(task, result);
    } catch (error) {
      settle = () => task.reject(error);
    }
    this.#process.after(ms + afterMs, () => {
      if (this.#isClosed) return;
      thread.task = undefined;
      settle();
      this.#assign();
    });
  }

  /** An answer that is worthless by now runs again before all that wait. */
  #answer(task: Task, result: unknown): void {
    try {
      if (task.options.isOutdated?.(result)) this.#waiting.unshift(task);
      else task.resolve(result);
    } catch (error) {
      task.reject(error);
    }
  }

  #handlersOf(thread: Thread): Handlers {
    if (thread.handlers !== undefined) return thread.handlers;
    const { handlers, everySecond } = this.#module!.start(structuredClone(this.#options.data));
    thread.handlers = handlers;
    if (everySecond) this.#repeat(thread, everySecond);
    return handlers;
  }

  #repeat(thread: Thread, work: () => void): void {
    this.#process.after(SECOND_MS, () => {
      if (this.#isClosed || thread.hasEnded) return;
      this.#as(thread, work);
      this.#repeat(thread, work);
    });
  }
}

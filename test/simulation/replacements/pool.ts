/** Threads of a simulated node: calls run beside its main thread, each thread's one after the other, and take time of their own. */

import {
  type ExecutionRequest,
  type ExecutionThreadData,
  FollowingExecution,
} from "../../../src/calls/following-execution.ts";
import { RequestedModules } from "../../../src/compiled-contracts/requested-modules.ts";
import { type PackedSidecar, unpackSidecar } from "../../../src/crypto/kzg/sidecar.ts";
import { VerifiedBlobs } from "../../../src/crypto/kzg/verified-blobs.ts";
import { NodeError } from "../../../src/errors.ts";
import { type Handlers, Moved } from "../../../src/threads/channel.ts";
import type * as Replaced from "../../../src/threads/pool.ts";
import { chargeTo } from "../kernel/charge.ts";
import { currentProcess } from "../kernel/current.ts";
import type { Random } from "../kernel/random.ts";

export class ThreadLostError extends NodeError {
  readonly code = "WORKER_TASK_FAILED";
  readonly reason = "closed";
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
};

const MODULES: Readonly<Record<string, ThreadModule>> = {
  "crypto/kzg/verify-sidecar.thread": {
    start() {
      const verified = new VerifiedBlobs();
      return { handlers: { faultOf: (packed: PackedSidecar) => verified.faultOf(unpackSidecar(packed)) } };
    },
    msMax: 1,
  },
  "calls/execute.thread": {
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
};

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

type Thread = { handlers: Handlers | undefined; task: Task | undefined };

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
    this.#random = this.#process.simulation.random.stream(`${entry} of ${this.#process.id}`);
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
      this.#process.after(thread.handlers === undefined ? START_MS : 0, () => this.#run(thread, task));
    }
  }

  /** undefined: there are as many as there may be. */
  #start(): Thread | undefined {
    if (this.#threads.length >= this.#options.count) return undefined;
    const thread: Thread = { handlers: undefined, task: undefined };
    this.#threads.push(thread);
    return thread;
  }

  #run(thread: Thread, task: Task): void {
    if (this.#isClosed) return;
    let ms = this.#random.fraction() * this.#module!.msMax * (this.#random.chance(0.1) ? 1 : 0.01);
    let settle: () => void;
    try {
      const value = chargeTo(
        (charged) => (ms += charged),
        () => this.#handlersOf(thread)[task.name]!(task.input as never, undefined as never),
      );
      const result = value instanceof Moved ? value.value : structuredClone(value);
      settle = () => this.#answer(task, result);
    } catch (error) {
      settle = () => task.reject(error);
    }
    this.#process.after(ms, () => {
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
    if (everySecond) this.#repeat(everySecond);
    return handlers;
  }

  #repeat(work: () => void): void {
    this.#process.after(SECOND_MS, () => {
      if (this.#isClosed) return;
      work();
      this.#repeat(work);
    });
  }
}

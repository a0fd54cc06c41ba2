import { NodeError } from "../../errors.ts";
import { ExecutionTimeoutError } from "../../execution/call/call-errors.ts";
import { errorFromData } from "../../rpc/ports/channel/error-data.ts";
import { RequestTimeoutError, TooManyError } from "../../rpc/transport/errors.ts";
import type { CancelToken } from "../../threads/cancel-token.ts";
import { CompiledModules } from "../adapters/compiled/compiled-modules.ts";
import type { ExecutionReply, ExecutionRequest } from "./execution-protocol.ts";
import type { ModuleMessage, ModuleRequest } from "./requested-modules.ts";
import {
  startWorker,
  type TestWorkerEntry,
  type WorkerEntry,
  type WorkerThread,
} from "./start-worker.ts";

/** The thread of a request ended before it answered: it ran out of memory or failed. */
export class ExecutionAbortedError extends NodeError {
  readonly code = "EXECUTION_ABORTED";
}

export type ThreadLoss = "crash" | "timeout";

export type ExecutionThreadsOptions = {
  readonly entry: WorkerEntry | TestWorkerEntry;
  /** `threadData` of each thread. */
  readonly data: unknown;
  /** Threads at most. One starts when a request finds no idle thread. */
  readonly count: number;
  /** Requests that may wait for a thread. */
  readonly waitingMax: number;
  /** Of each thread's JavaScript heap. */
  readonly heapMegabytesMax: number;
  /** A thread without requests for so long ends, and frees its memory. */
  readonly idleMs: number;
  /** A thread that has not answered so long after the request's own deadline ends. */
  readonly graceMs: number;
  /**
   * Rollbacks of the store so far, as of now: an answer from before the last one is thrown away and the request runs again. Of a store that another
   * process writes it must not be what was read last: a thread that has seen a newer one would run the request again and again.
   */
  readonly epoch: () => number;
  /** Compiles contracts for all threads; undefined: none asks. */
  readonly compiler?: ModuleSource | undefined;
  readonly onLost: (reason: ThreadLoss, method: string | undefined, cause: Error) => void;
};

/** Where threads get compiled contracts from. */
export interface ModuleSource {
  request(input: ModuleRequest): Promise<{ readonly module: WebAssembly.Module } | undefined>;
  /** @returns how to end it */
  onDropped(listener: (key: string) => void): () => void;
}

export type ExecutionWork = ExecutionRequest & {
  /** Deadline that the execution itself keeps, in ms from its start; 0: none, and its thread is never ended for it. */
  readonly timeoutMs: number;
  readonly cancel: CancelToken | undefined;
};

type Task = {
  readonly work: ExecutionWork;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};

type Thread = {
  readonly worker: WorkerThread;
  isReady: boolean;
  task: Task | undefined;
  timer: NodeJS.Timeout | undefined;
};

/** Loading the modules takes some 0.3 s; on a busy machine many times that. */
const START_TIMEOUT_MS = 30_000;

/** Executes requests in threads of their own, first come first served. A thread that fails takes only the request with it that it ran. */
export class ExecutionThreads {
  readonly #options: ExecutionThreadsOptions;
  readonly #threads = new Set<Thread>();
  /** The thread that worked last is taken first: its caches are warm, and the others may end. */
  readonly #idle: Thread[] = [];
  readonly #waiting: Task[] = [];
  readonly #ignoreDropped: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ExecutionThreadsOptions) {
    this.#options = options;
    this.#ignoreDropped = options.compiler?.onDropped((key) => {
      for (const { worker } of this.#threads) {
        worker.postMessage({ kind: "dropped", key } satisfies ModuleMessage);
      }
    });
  }

  /** Threads with a request. */
  get busy(): number {
    return this.#threads.size - this.#idle.length;
  }

  /** A request would not have to wait for a thread to start. */
  get isReady(): boolean {
    for (const { isReady } of this.#threads) if (isReady) return true;
    return false;
  }

  /** A request would have to wait for another to end. */
  get isSaturated(): boolean {
    return this.busy >= this.#options.count;
  }

  /** Starts a thread if there is none. */
  warmUp(): void {
    if (this.#threads.size > 0) return;
    const thread = this.#startThread();
    if (thread !== undefined) this.#rest(thread);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * The method's result; its arguments are copied to the thread.
   * @throws TooManyError, RequestTimeoutError, ExecutionTimeoutError, ExecutionAbortedError, and what the method throws
   */
  run(work: ExecutionWork): Promise<unknown> {
    if (this.#waiting.length >= this.#options.waitingMax) this.#dropAborted();
    if (this.#waiting.length >= this.#options.waitingMax) {
      throw new TooManyError("too many calls are waiting, try again later");
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      this.#assign();
    });
  }

  /** Ends every thread; requests that run or wait fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ignoreDropped?.();
    const error = new ExecutionAbortedError("the node stops");
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    await Promise.all(
      [...this.#threads].map((thread) => {
        thread.task?.reject(error);
        return this.#end(thread);
      }),
    );
  }

  #assign(): void {
    this.#dropAborted();
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop() ?? this.#startThread();
      if (thread === undefined) return;
      this.#start(thread, this.#waiting.shift()!);
    }
  }

  #dropAborted(): void {
    for (const task of this.#waiting.splice(0)) {
      if (task.work.cancel?.isAborted) task.reject(new RequestTimeoutError());
      else this.#waiting.push(task);
    }
  }

  #start(thread: Thread, task: Task): void {
    clearTimeout(thread.timer);
    thread.task = task;
    thread.worker.ref();
    const { method, args, pending } = task.work;
    thread.worker.postMessage({
      ...{ method, args },
      ...(pending && { pending }),
    } satisfies ExecutionRequest);
    if (thread.isReady) this.#startDeadline(thread);
    else this.#startTimer(thread, START_TIMEOUT_MS, new ExecutionAbortedError("no thread started"));
  }

  #startDeadline(thread: Thread): void {
    const { timeoutMs } = thread.task!.work;
    if (timeoutMs === 0) return;
    const error = new ExecutionTimeoutError(timeoutMs);
    this.#startTimer(thread, timeoutMs + this.#options.graceMs, error);
  }

  #startTimer(thread: Thread, ms: number, error: Error): void {
    thread.timer = setTimeout(() => this.#onLost(thread, "timeout", error), ms);
  }

  #rest(thread: Thread): void {
    thread.worker.unref();
    this.#idle.push(thread);
    thread.timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(thread), 1);
      void this.#end(thread);
    }, this.#options.idleMs).unref();
  }

  /** undefined: there are as many as there may be. */
  #startThread(): Thread | undefined {
    const { entry, data, count, heapMegabytesMax } = this.#options;
    if (this.#threads.size >= count) return undefined;
    const worker = startWorker(entry, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    const thread: Thread = { worker, isReady: false, task: undefined, timer: undefined };
    worker.on("message", (reply: ExecutionReply) => this.#receive(thread, reply));
    worker.on("error", (cause) => {
      const error = new ExecutionAbortedError(`execution aborted: ${cause.message}`, {}, { cause });
      this.#onLost(thread, "crash", error);
    });
    worker.on("exit", () => {
      this.#onLost(
        thread,
        "crash",
        new ExecutionAbortedError("execution aborted: its thread ended"),
      );
    });
    this.#threads.add(thread);
    return thread;
  }

  #receive(thread: Thread, reply: ExecutionReply): void {
    if (!this.#threads.has(thread)) return;
    if (reply.kind === "ready") {
      thread.isReady = true;
      clearTimeout(thread.timer);
      if (thread.task !== undefined) this.#startDeadline(thread);
      return;
    }
    if (reply.kind === "compile") {
      void this.#compileFor(thread, reply.request);
      return;
    }
    clearTimeout(thread.timer);
    const task = thread.task!;
    thread.task = undefined;
    this.#settle(task, reply);
    this.#rest(thread);
    this.#assign();
  }

  #settle(task: Task, reply: Exclude<ExecutionReply, { kind: "ready" | "compile" }>): void {
    let epoch: number;
    try {
      epoch = this.#options.epoch();
    } catch (error) {
      task.reject(error as Error);
      return;
    }
    if (reply.epoch !== epoch) this.#waiting.unshift(task);
    else if (reply.kind === "result") task.resolve(reply.value);
    else task.reject(errorFromData(reply.error));
  }

  async #compileFor(thread: Thread, request: ModuleRequest): Promise<void> {
    const compiled = await this.#options.compiler?.request(request);
    if (compiled === undefined || !this.#threads.has(thread)) return;
    const key = CompiledModules.keyOf(request.hash, request.hardfork);
    const { module } = compiled;
    thread.worker.postMessage({ kind: "module", key, module } satisfies ModuleMessage);
  }

  /** The request that ran there fails; the others go to other threads. */
  #onLost(thread: Thread, reason: ThreadLoss, error: Error): void {
    if (!this.#threads.has(thread)) return;
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
    void this.#end(thread);
    this.#options.onLost(reason, thread.task?.work.method, error);
    thread.task?.reject(error);
    if (!this.#isClosed) this.#assign();
  }

  async #end(thread: Thread): Promise<void> {
    this.#threads.delete(thread);
    clearTimeout(thread.timer);
    await thread.worker.end();
  }
}

import { NodeError } from "../errors.ts";
import type { Timer, Timers } from "../telemetry/timers.ts";
import type { CancelToken } from "./cancel-token.ts";
import { type Channel, channelOver, type Handlers, type InputOf, type MessageEnd, type ResultOf } from "./channel.ts";
import type { PoolHandlers } from "./serve-thread.ts";
import { type NodeThread, startThread, type ThreadEntry } from "./start-thread.ts";
import { beginWait } from "./waits.ts";

type ThreadLoss = "crash" | "timeout" | "closed";

/** The thread of a call ended before it answered: it failed, took too long, or its pool was closed. */
export class ThreadLostError extends NodeError {
  readonly code = "WORKER_TASK_FAILED";
  readonly reason: ThreadLoss;
  constructor(message: string, reason: ThreadLoss, options?: ErrorOptions) {
    super(message, {}, options);
    this.reason = reason;
  }
}

/** The caller gave up before a thread took its call. */
export class CallAbortedError extends NodeError {
  readonly code = "WORKER_TASK_ABORTED";
}

export type PoolOptions = {
  /** The threads' module, which calls `serveThread`. */
  readonly entry: ThreadEntry;
  /** `threadData` of each thread. */
  readonly data?: unknown;
  /** Maximum number of threads. One starts when a call finds no idle thread. */
  readonly count: number;
  readonly waitingMax: number;
  /**
   * Maximum number of calls queued in a thread; default: 1. With more, a thread continues while this thread is too busy to send the next call.
   * Idle threads get calls first. The module must answer calls synchronously.
   */
  readonly callsMax?: number;
  /** Size of each thread's JavaScript heap. */
  readonly heapMegabytesMax: number;
  /** Idle time after which a thread ends and frees its memory. 0: each ends after its first call */
  readonly idleMs?: number;
  /** Functions of this thread that the threads may call. */
  readonly here?: Handlers;
  /** A thread was lost, with its running call if it had one; the next call starts another. */
  readonly onLost?: (error: ThreadLostError, call: string | undefined) => void;
};

export type PoolCallOptions = {
  /** A thread that takes longer for its call is ended; 0: no limit */
  readonly timeoutMs: number;
  /** A call that is aborted while it waits is dropped. */
  readonly cancel?: CancelToken | undefined;
  /** Buffers of the input to transfer to the thread instead of copying. */
  readonly moved?: readonly ArrayBuffer[] | undefined;
  /** Whether the answer is obsolete, so that the call runs again, before all that wait. Its errors fail the call. */
  readonly isOutdated?: (result: unknown) => boolean;
};

type Task = {
  readonly name: string;
  readonly input: unknown;
  readonly options: PoolCallOptions;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Called when a thread takes the task. */
  readonly ended: (() => void) | undefined;
};

type Thread = {
  readonly worker: NodeThread;
  readonly channel: Channel;
  isReady: boolean;
  /** The first one is running, the others wait in the thread. */
  readonly tasks: Task[];
  timer: Timer | undefined;
};

/** Loading the modules takes about 0.3 s, and a hundred times that on a starved machine. A thread that cannot load them ends before this limit. */
const START_MS_MAX = 300_000;
const IDLE_MS = 60_000;

/** Runs calls in other threads, first come first served. A failing thread takes only its running call with it. */
export class Pool<There extends Handlers> {
  readonly #options: PoolOptions;
  readonly #timers: Timers;
  readonly #threads = new Set<Thread>();
  /** The thread that worked last is reused first: its caches are warm, and the others may end. */
  readonly #idle: Thread[] = [];
  readonly #waiting: Task[] = [];
  #isClosed = false;

  constructor(options: PoolOptions, timers: Timers) {
    this.#options = options;
    this.#timers = timers;
  }

  get busy(): number {
    return this.#threads.size - this.#idle.length;
  }

  /** Calls without a thread. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether a call would run without waiting for a thread to start. */
  get isReady(): boolean {
    for (const { isReady } of this.#threads) if (isReady) return true;
    return false;
  }

  /** Whether a call would have to wait for another to end. */
  get isSaturated(): boolean {
    return this.busy >= this.#options.count;
  }

  /** Whether the queue is full. Callers check it, since some exempt calls from the bound. */
  isFull(): boolean {
    const { waitingMax } = this.#options;
    if (this.#waiting.length >= waitingMax) this.#dropAborted();
    return this.#waiting.length >= waitingMax;
  }

  warmUp(): void {
    if (this.#threads.size > 0) return;
    const thread = this.#startThread();
    if (thread !== undefined) this.#rest(thread);
  }

  /**
   * The result of the thread's function; the input is copied to the thread.
   * @throws ThreadLostError, CallAbortedError, and errors of the function
   */
  call<Name extends keyof There & string>(
    name: Name,
    input: InputOf<There, Name>,
    options: PoolCallOptions,
  ): Promise<ResultOf<There, Name>> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed();
      const ended = beginWait("thread");
      this.#waiting.push({ name, input, options, resolve: resolve as never, reject, ended });
      this.#assign();
    });
  }

  /** Emits an event to every existing thread. */
  emit<Name extends keyof There & string>(name: Name, input: InputOf<There, Name>): void {
    for (const { channel } of this.#threads) channel.emit(name, input as never);
  }

  /** Ends all threads; running and waiting calls fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rejectWaiting();
    await Promise.all(
      [...this.#threads].map((thread) => {
        for (const { reject } of thread.tasks.splice(0)) reject(closed());
        return this.#end(thread);
      }),
    );
  }

  #rejectWaiting(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
  }

  #assign(): void {
    this.#dropAborted();
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop() ?? this.#startThread() ?? this.#threadWithRoom();
      if (thread === undefined) return;
      this.#start(thread, this.#waiting.shift()!);
    }
  }

  /** The thread with the fewest calls, if its queue has room. */
  #threadWithRoom(): Thread | undefined {
    const { callsMax = 1 } = this.#options;
    if (callsMax === 1) return undefined;
    let found: Thread | undefined;
    for (const thread of this.#threads) {
      const { length } = thread.tasks;
      if (length < (found?.tasks.length ?? callsMax)) found = thread;
    }
    return found;
  }

  #dropAborted(): void {
    for (const task of this.#waiting.splice(0)) {
      if (task.options.cancel?.isAborted) {
        task.reject(new CallAbortedError("the caller gave up before its turn"));
      } else this.#waiting.push(task);
    }
  }

  #start(thread: Thread, task: Task): void {
    task.ended?.();
    thread.tasks.push(task);
    thread.worker.ref();
    thread.channel.call(task.name, task.input as never, { attached: task.options.moved }).then(
      (value) => this.#answered(thread, task, value),
      (error) => this.#answered(thread, task, undefined, error),
    );
    if (thread.tasks.length > 1) return;
    thread.timer?.cancel();
    if (thread.isReady) this.#startDeadline(thread);
    else this.#loseAfter(thread, START_MS_MAX, "no thread started");
  }

  #startDeadline(thread: Thread): void {
    const { timeoutMs } = thread.tasks[0]!.options;
    if (timeoutMs > 0) this.#loseAfter(thread, timeoutMs, `timeout after ${timeoutMs} ms`);
  }

  #loseAfter(thread: Thread, ms: number, message: string): void {
    const lose = () => {
      void this.#end(thread);
      this.#onLost(thread, new ThreadLostError(message, "timeout"));
    };
    thread.timer = this.#timers.after(ms, "call of a thread", lose, { keepsAlive: true });
  }

  #rest(thread: Thread): void {
    thread.worker.unref();
    this.#idle.push(thread);
    const { idleMs = IDLE_MS } = this.#options;
    thread.timer = this.#timers.after(idleMs, "idle thread", () => this.#end(thread));
  }

  /** undefined: the maximum is reached. */
  #startThread(): Thread | undefined {
    const { entry, data, count, heapMegabytesMax } = this.#options;
    if (this.#threads.size >= count) return undefined;
    const worker = startThread(entry, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    const here: Handlers & PoolHandlers = {
      ...this.#options.here,
      ready: () => this.#ready(thread),
    };
    const channel = channelOver(worker as MessageEnd, here);
    const thread: Thread = { worker, channel, isReady: false, tasks: [], timer: undefined };
    let lost = new ThreadLostError("the thread ended without an answer", "crash");
    worker.on("error", (cause) => {
      lost = new ThreadLostError(cause.message, "crash", { cause });
    });
    worker.on("exit", () => {
      if (!this.#threads.has(thread)) return;
      this.#leave(thread);
      // Lets answers be received that arrived together with the end.
      this.#timers.soon("lost thread", () => this.#onLost(thread, lost));
    });
    this.#threads.add(thread);
    return thread;
  }

  #ready(thread: Thread): void {
    if (!this.#threads.has(thread)) return;
    thread.isReady = true;
    if (thread.tasks.length === 0) return;
    thread.timer?.cancel();
    this.#startDeadline(thread);
  }

  #answered(thread: Thread, task: Task, value: unknown, error?: Error): void {
    const at = thread.tasks.indexOf(task);
    if (at < 0) return;
    thread.tasks.splice(at, 1);
    thread.timer?.cancel();
    try {
      if (error !== undefined) task.reject(error);
      else if (task.options.isOutdated?.(value)) this.#waiting.unshift(task);
      else task.resolve(value);
    } catch (error) {
      task.reject(error as Error);
    }
    if (!this.#threads.has(thread)) return;
    if (thread.tasks.length > 0) this.#startDeadline(thread);
    else if (this.#options.idleMs === 0) void this.#end(thread);
    else this.#rest(thread);
    this.#assign();
  }

  /** Fails the thread's running call and moves the others to other threads. */
  #onLost(thread: Thread, error: ThreadLostError): void {
    const [task, ...unstarted] = thread.tasks.splice(0);
    this.#waiting.unshift(...unstarted);
    this.#options.onLost?.(error, task?.name);
    task?.reject(error);
    if (this.#isClosed) this.#rejectWaiting();
    else this.#assign();
  }

  /** Gives the thread no more calls. */
  #leave(thread: Thread): void {
    this.#threads.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
    thread.timer?.cancel();
  }

  async #end(thread: Thread): Promise<void> {
    this.#leave(thread);
    await thread.worker.end();
  }
}

function closed(): ThreadLostError {
  return new ThreadLostError("the node stops", "closed");
}

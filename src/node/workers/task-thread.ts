import type { TaskReply, TaskRequest } from "./serve-tasks.ts";
import { startWorker, type WorkerEntry, type WorkerThread } from "./start-worker.ts";
import { WorkerTaskError } from "./worker-task-error.ts";

export type TaskThreadOptions = {
  /** Of one task, from its start */
  readonly timeoutMs: number;
  /** Of the thread's JavaScript heap */
  readonly heapMegabytesMax: number;
  /** Tasks that may wait while one runs. */
  readonly waitingMax: number;
};

type Task<Input, Result> = {
  readonly input: Input;
  readonly moved: readonly ArrayBuffer[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: WorkerTaskError) => void;
};

/** A thread without work for so long ends, and frees the tables it loaded. */
const IDLE_MS = 60_000;

/** Runs tasks in one thread, first come first served. The thread starts with the first task. */
export class TaskThread<Input, Result> {
  readonly #entry: WorkerEntry;
  readonly #options: TaskThreadOptions;
  /** The first one runs. */
  readonly #tasks: Task<Input, Result>[] = [];
  #worker: WorkerThread | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param entry module that calls `serveTasks` */
  constructor(entry: WorkerEntry, options: TaskThreadOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  /** Tasks that run or wait. */
  get waiting(): number {
    return this.#tasks.length;
  }

  isFull(): boolean {
    return this.#tasks.length > this.#options.waitingMax;
  }

  /**
   * @param input copied to the thread
   * @param moved buffers of it that are moved there in place of that
   * @throws WorkerTaskError
   */
  run(input: Input, moved: readonly ArrayBuffer[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#tasks.push({ input, moved, resolve, reject });
      if (this.#tasks.length === 1) this.#startNext();
    });
  }

  /** Ends the thread; tasks that run or wait fail. */
  close(): Promise<void> {
    const ended = this.#endThread();
    const error = new WorkerTaskError("the node stops", false);
    for (const { reject } of this.#tasks.splice(0)) reject(error);
    return ended;
  }

  #startNext(): void {
    clearTimeout(this.#timer);
    const task = this.#tasks[0];
    if (task === undefined) {
      this.#worker?.unref();
      this.#timer = setTimeout(() => void this.#endThread(), IDLE_MS).unref();
      return;
    }
    const { timeoutMs } = this.#options;
    this.#timer = setTimeout(() => this.#onLost(`timeout after ${timeoutMs} ms`), timeoutMs);
    this.#worker ??= this.#startThread();
    this.#worker.ref();
    this.#worker.postMessage({ input: task.input } satisfies TaskRequest<Input>, task.moved);
  }

  #startThread(): WorkerThread {
    const worker = startWorker(this.#entry, {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMegabytesMax },
    });
    worker.on("message", (reply: TaskReply<Result>) => {
      const task = this.#tasks.shift();
      if ("error" in reply) task?.reject(new WorkerTaskError(reply.error.message, false));
      else task?.resolve(reply.result);
      this.#startNext();
    });
    worker.on("error", (cause) => {
      if (worker === this.#worker) this.#onLost(cause.message, { cause });
    });
    worker.on("exit", () => {
      if (worker === this.#worker) this.#onLost("the thread ended without an answer");
    });
    return worker;
  }

  /** The task that ran fails; the next one gets another thread. */
  #onLost(message: string, options?: ErrorOptions): void {
    void this.#endThread();
    this.#tasks.shift()?.reject(new WorkerTaskError(message, true, options));
    this.#startNext();
  }

  async #endThread(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.end();
  }
}

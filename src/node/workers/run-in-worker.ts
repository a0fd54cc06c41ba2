import type { TaskReply } from "./serve-tasks.ts";
import { startWorker, type WorkerEntry } from "./start-worker.ts";
import { WorkerTaskError } from "./worker-task-error.ts";

export type WorkerTaskLimits = {
  readonly timeoutMs: number;
  /** Of the thread's JavaScript heap */
  readonly heapMegabytesMax: number;
};

/**
 * Runs the module `entry` in a thread of its own, which ends with it.
 * @param input handed over as `threadData`
 * @throws WorkerTaskError, also with the message the task sent as its error
 */
export function runInWorker<Result>(
  entry: WorkerEntry,
  input: unknown,
  { timeoutMs, heapMegabytesMax }: WorkerTaskLimits,
): Promise<Result> {
  const worker = startWorker(entry, {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  });
  return new Promise<Result>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new WorkerTaskError(`timeout after ${timeoutMs} ms`, true)),
      timeoutMs,
    );
    worker.once("message", (reply: TaskReply<Result>) => {
      clearTimeout(timer);
      if ("result" in reply) resolve(reply.result);
      else reject(new WorkerTaskError(reply.error.message, false));
    });
    worker.once("error", (cause) => {
      clearTimeout(timer);
      reject(new WorkerTaskError(cause.message, true, { cause }));
    });
    worker.once("exit", () => {
      clearTimeout(timer);
      reject(new WorkerTaskError("the thread ended without an answer", true));
    });
  }).finally(() => void worker.end());
}

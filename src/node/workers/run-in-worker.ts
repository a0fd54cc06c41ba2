import { Worker, type WorkerOptions } from "node:worker_threads";
import { NodeError } from "../../errors.ts";

/** The task took longer or needed more memory than it may, or its thread died. */
export class WorkerTaskError extends NodeError {
  readonly code = "WORKER_TASK_FAILED";
}

export type WorkerTaskLimits = {
  readonly timeoutMs: number;
  /** Of the thread's JavaScript heap */
  readonly heapMegabytesMax: number;
};

/** What a task sends back. */
export type TaskReply<Result> =
  | { readonly result: Result }
  | { readonly error: { readonly message: string } };

/**
 * Runs the module at `entry` (this directory's, without its extension) in a thread of its own, which ends with it.
 * @param input handed over as `workerData`
 * @throws WorkerTaskError, also with the message the task sent as its error
 */
export function runInWorker<Result>(
  entry: string,
  input: unknown,
  { timeoutMs, heapMegabytesMax }: WorkerTaskLimits,
): Promise<Result> {
  const worker = startWorker(entry, {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  });
  return new Promise<Result>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new WorkerTaskError(`timeout after ${timeoutMs} ms`)),
      timeoutMs,
    );
    worker.once("message", (reply: TaskReply<Result>) => {
      clearTimeout(timer);
      if ("result" in reply) resolve(reply.result);
      else reject(new WorkerTaskError(reply.error.message));
    });
    worker.once("error", (cause) => {
      clearTimeout(timer);
      reject(new WorkerTaskError(cause.message, {}, { cause }));
    });
    worker.once("exit", () => {
      clearTimeout(timer);
      reject(new WorkerTaskError("the thread ended without an answer"));
    });
  }).finally(() => void worker.terminate());
}

/** Once built, the module is a JavaScript file; from the sources it is TypeScript, which a thread of Node 20 has to be taught. */
function startWorker(entry: string, options: WorkerOptions): Worker {
  if (import.meta.url.endsWith(".js")) {
    return new Worker(new URL(`./${entry}.js`, import.meta.url), options);
  }
  const { href } = new URL(`./${entry}.ts`, import.meta.url);
  const code = `import("tsx/esm/api").then(({ register }) => { register(); return import("${href}"); });`;
  return new Worker(code, { ...options, eval: true });
}

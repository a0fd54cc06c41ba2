import { parentPort } from "node:worker_threads";

export type TaskRequest<Input> = { readonly input: Input };

/** The outcome of a task as it crosses threads. */
export type TaskReply<Result> =
  | { readonly result: Result }
  | { readonly error: { readonly message: string } };

/** Answers the tasks of a `TaskThread`, in the thread. @param run throws for a task that fails */
export function serveTasks<Input, Result>(run: (input: Input) => Result | Promise<Result>): void {
  parentPort?.on("message", async ({ input }: TaskRequest<Input>) => {
    parentPort?.postMessage(await replyTo(input, run));
  });
}

async function replyTo<Input, Result>(
  input: Input,
  run: (input: Input) => Result | Promise<Result>,
): Promise<TaskReply<Result>> {
  try {
    return { result: await run(input) };
  } catch (error) {
    return { error: { message: error instanceof Error ? error.message : String(error) } };
  }
}

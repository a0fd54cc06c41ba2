import { NodeError } from "../../errors.ts";

/** A task failed in its thread, took too long, or the thread ended. */
export class WorkerTaskError extends NodeError {
  readonly code = "WORKER_TASK_FAILED";
  /** The task did not answer: the next one starts another thread. */
  readonly isThreadLost: boolean;
  constructor(message: string, isThreadLost: boolean, options?: ErrorOptions) {
    super(message, {}, options);
    this.isThreadLost = isThreadLost;
  }
}

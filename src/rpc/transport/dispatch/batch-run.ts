import type { MemoryBudget } from "../memory-budget.ts";
import { BatchAnswer } from "./batch-answer.ts";
import type { RequestContext } from "./context.ts";
import type { Message } from "./message.ts";
import type { Method } from "./method.ts";

/** How far the calls of one batch are. */
export class BatchRun<Modules> {
  readonly messages: readonly Message[];
  readonly context: RequestContext;
  /** Of the clock of `performance.now`. */
  readonly deadline: number;
  readonly answer: BatchAnswer;
  /** Index of the call that is to be run. */
  next = 0;
  isTooLarge = false;
  /** It waits for the answer of a call, and not for its turn. */
  isCalling = false;
  #name = "";
  #method: Method<Modules> | undefined;

  constructor(
    messages: readonly Message[],
    context: RequestContext,
    deadline: number,
    output: MemoryBudget | undefined,
  ) {
    this.messages = messages;
    this.context = context;
    this.deadline = deadline;
    this.answer = new BatchAnswer(output);
  }

  /** The method of this name if it is that of the call before, which its caller may run: most batches call one method. */
  methodOf(name: string): Method<Modules> | undefined {
    return name === this.#name ? this.#method : undefined;
  }

  remember(name: string, method: Method<Modules>): void {
    this.#name = name;
    this.#method = method;
  }
}

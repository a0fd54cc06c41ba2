import type { MemoryBudget } from "../memory-budget.ts";
import { BatchAnswer } from "./batch-answer.ts";
import type { RequestContext } from "./context.ts";
import type { Method } from "./method.ts";

/** How far the calls of one batch are. */
export class BatchRun<Modules> {
  readonly values: readonly unknown[];
  readonly ids: readonly (string | undefined)[];
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
    values: readonly unknown[],
    ids: readonly (string | undefined)[],
    context: RequestContext,
    deadline: number,
    output: MemoryBudget | undefined,
  ) {
    this.values = values;
    this.ids = ids;
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

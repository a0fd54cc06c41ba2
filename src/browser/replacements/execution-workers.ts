import type * as Replaced from "../../node/adapters/execution-workers.ts";

/** Other threads cannot read the index, which is in the memory of this one. */
export const createExecutionThreads: typeof Replaced.createExecutionThreads = () => undefined;

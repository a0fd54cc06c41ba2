import type * as Replaced from "../../calls/execution-threads.ts";

/** Other threads cannot read the index, which is in the memory of this one. */
export const createExecutionThreads: typeof Replaced.createExecutionThreads = () => undefined;

import type * as Replaced from "../../processes/rpc-processes.ts";

/** Without listeners there is nothing for other processes to serve. */
export const startRpcProcesses: typeof Replaced.startRpcProcesses = () => undefined;

import type { Config } from "../config/config.ts";
import type { ExecutionReads } from "../rpc/ports/execution.ts";

/** Limits of calls and traces that leave no block. */
export type CallLimits = {
  /** Units one call may use; 0: no limit */
  readonly gasCap: bigint;
  /** 0: no limit */
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  /** Bytes one eth_call may return. */
  readonly returnBytesMax: number;
  /** Of one debug_trace call: the default time, the most a caller may name, bytes of all its traces, memory of a script. */
  readonly trace: {
    readonly timeoutMs: number;
    readonly timeoutMsMax: number;
    readonly bytesMax: number;
    readonly scriptMemoryBytesMax: number;
  };
};

/** Reads of `ExecutionPort` of which each call may be given limits of its own. */
export type LimitedReads = {
  readonly [Name in keyof ExecutionReads]: (
    input: Parameters<ExecutionReads[Name]>[0],
    limits?: CallLimits,
  ) => ReturnType<ExecutionReads[Name]>;
};

export function callLimitsOf({ jsonRpc }: Pick<Config, "jsonRpc">): CallLimits {
  return {
    gasCap: jsonRpc.callGasMax,
    timeoutMs: jsonRpc.callTimeoutMs,
    memoryBytesMax: jsonRpc.callMemoryBytesMax,
    returnBytesMax: jsonRpc.returnBytesMax,
    trace: {
      timeoutMs: jsonRpc.traceTimeoutMs,
      timeoutMsMax: jsonRpc.traceTimeoutMsMax,
      bytesMax: jsonRpc.traceBytesMax,
      scriptMemoryBytesMax: jsonRpc.traceScriptMemoryBytesMax,
    },
  };
}

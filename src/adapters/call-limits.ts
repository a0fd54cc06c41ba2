import type { Config } from "../config/config.ts";
import type { RpcLimits } from "../rpc/transport/limits.ts";

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

export function callLimitsOf({ jsonRpc, limits }: Pick<Config, "jsonRpc" | "limits">): CallLimits {
  const { calls } = limits;
  return {
    gasCap: jsonRpc.callGasMax,
    timeoutMs: jsonRpc.callTimeoutMs,
    memoryBytesMax: calls.memoryBytesMax,
    returnBytesMax: calls.returnBytesMax,
    trace: {
      timeoutMs: calls.traceTimeoutMs,
      timeoutMsMax: jsonRpc.traceTimeoutMsMax,
      bytesMax: calls.traceBytesMax,
      scriptMemoryBytesMax: calls.traceScriptMemoryBytesMax,
    },
  };
}

/** Of the JSON-RPC server: the settings, and what is fixed. */
export function rpcLimitsOf({
  rpcLimits,
  limits,
}: Pick<Config, "rpcLimits" | "limits">): RpcLimits {
  return { ...limits.server, ...rpcLimits };
}

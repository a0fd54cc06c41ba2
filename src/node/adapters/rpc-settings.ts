import type { SubmissionRules } from "../../consensus/mempool/submission.ts";
import type { RpcSettings } from "../../rpc/methods/rpc-ports.ts";
import type { ExecutionReads } from "../../rpc/ports/execution.ts";
import type { MethodInfo } from "../../rpc/transport/dispatch/method.ts";
import type { RpcLimits } from "../../rpc/transport/limits.ts";
import type { Config } from "../config/config.ts";

/** Limits of calls and traces that do not make a block. */
export type CallLimits = {
  /** Gas that one call may use; 0: no limit */
  readonly gasCap: bigint;
  /** 0: no limit */
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  readonly returnBytesMax: number;
  /** Limits of one debug_trace call: default time, maximum time, bytes of its traces, memory of a script. */
  readonly trace: {
    readonly timeoutMs: number;
    readonly timeoutMsMax: number;
    readonly bytesMax: number;
    readonly scriptMemoryBytesMax: number;
  };
};

/** Reads of `ExecutionPort` whose calls may override the limits. */
export type LimitedReads = {
  readonly [Name in keyof ExecutionReads]: (
    input: Parameters<ExecutionReads[Name]>[0],
    limits?: CallLimits,
  ) => ReturnType<ExecutionReads[Name]>;
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
      timeoutMsMax: calls.traceTimeoutMsMax,
      bytesMax: calls.traceBytesMax,
      scriptMemoryBytesMax: calls.traceScriptMemoryBytesMax,
    },
  };
}

export function submissionRulesOf({ txFeeWeiMax, allowUnprotected }: Config["jsonRpc"]): SubmissionRules {
  return { txFeeWeiMax, allowUnprotected };
}

/** The settings that methods need, in whichever process they run. */
export function rpcSettings({ jsonRpc, chain, devChain, limits }: Config, methods: readonly MethodInfo[]): RpcSettings {
  const { calls } = limits;
  return {
    logLimits: {
      resultsMax: jsonRpc.logsResultsMax,
      bytesMax: calls.logsBytesMax,
      workMax: calls.logsWorkMax,
      termsMax: calls.filterTermsMax,
    },
    traceFilter: { blocksMax: calls.traceFilterBlocksMax, bytesMax: calls.traceBytesMax },
    otsPageSizeMax: calls.otsPageSizeMax,
    submissionRules: submissionRulesOf(jsonRpc),
    isAnvil: devChain.dialect === "anvil",
    chainName: chain.name,
    methods,
  };
}

export function rpcLimitsOf({ rpcLimits, limits }: Pick<Config, "rpcLimits" | "limits">): RpcLimits {
  return { ...limits.server, ...rpcLimits };
}

import { ExecutionTimeoutError } from "../../execution/call/call-errors.ts";
import type { CancelToken } from "../../rpc/ports/cancel-token.ts";
import { plainData } from "../../rpc/ports/channel/plain-data.ts";
import { remoteMethod } from "../../rpc/ports/channel/protocol.ts";
import type { ExecutionReads, TraceRequest } from "../../rpc/ports/execution.ts";
import type { ChainCore } from "../compose-chain.ts";
import type { PendingBlockData } from "../workers/execution-protocol.ts";
import type { ExecutionThreads } from "../workers/execution-threads.ts";
import type { CallLimits } from "./call-limits.ts";
import { createExecutionReads, type ExecutionCore } from "./execution-port.ts";

/**
 * A call gets so long on the chain's own thread before it moves to another. Nearly all calls of wallets end within a tenth of it
 * (balanceOf: 53 µs), sooner than a message to another thread is answered.
 */
const FIRST_TRY_MS = 2;

type ReadName = keyof ExecutionReads;

/** Where a method runs: `firstHere` on the chain's thread until `FIRST_TRY_MS` have passed. */
const PLACES = {
  call: "firstHere",
  estimateGas: "firstHere",
  createAccessList: "firstHere",
  callMany: "thread",
  simulate: "thread",
  traceTransaction: "thread",
  traceBlock: "thread",
  traceRawBlock: "thread",
  traceCall: "thread",
} as const satisfies Readonly<Record<ReadName, "firstHere" | "thread">>;

type AnyRead = (...args: readonly unknown[]) => unknown;

/** `ExecutionReads` that keeps the chain's thread free: what takes long runs in `threads`. */
export function createThreadedExecution(
  limits: CallLimits,
  core: ExecutionCore,
  modules: { readonly suggestTip: () => bigint; readonly threads: ExecutionThreads },
): ExecutionReads {
  const { threads, suggestTip } = modules;
  const { timeoutMs } = limits;
  const isShort = timeoutMs > 0 && timeoutMs <= FIRST_TRY_MS;
  const firstTry = createExecutionReads(
    { ...limits, timeoutMs: isShort ? timeoutMs : FIRST_TRY_MS },
    core,
    suggestTip,
  );

  function inThread(method: ReadName, args: readonly unknown[]): unknown {
    const cancelAt = remoteMethod("execution", method)?.cancelAt ?? args.length;
    const pending = args[1] === "pending" ? pendingData(core.reader) : undefined;
    return threads.run({
      ...{ method, args: plainData(args.slice(0, cancelAt)) as unknown[] },
      ...(pending && { pending }),
      timeoutMs: timeoutOf(method, args, limits),
      cancel: args[cancelAt] as CancelToken | undefined,
    });
  }

  function firstHere(method: ReadName, args: readonly unknown[]): unknown {
    try {
      return (firstTry[method] as AnyRead)(...args);
    } catch (error) {
      if (isShort || !(error instanceof ExecutionTimeoutError)) throw error;
      return inThread(method, args);
    }
  }

  const methods = Object.entries(PLACES).map(([name, place]) => {
    const run = place === "thread" ? inThread : firstHere;
    return [name, (...args: readonly unknown[]) => run(name as ReadName, args)];
  });
  return Object.fromEntries(methods) as ExecutionReads;
}

/** What the execution itself takes for its deadline; 0: none. */
function timeoutOf(method: ReadName, args: readonly unknown[], limits: CallLimits): number {
  if (!method.startsWith("trace")) return limits.timeoutMs;
  const { trace } = limits;
  const requested = args.map((arg) => (arg as TraceRequest | undefined)?.timeoutMs);
  return Math.min(requested.find((ms) => ms !== undefined) ?? trace.timeoutMs, trace.timeoutMsMax);
}

function pendingData({ pending }: ChainCore["reader"]): PendingBlockData | undefined {
  const block = pending();
  if (block === undefined) return undefined;
  const { executed, changes } = block;
  return plainData({
    executed: { block: executed.block, senders: executed.senders },
    changes,
  }) as PendingBlockData;
}

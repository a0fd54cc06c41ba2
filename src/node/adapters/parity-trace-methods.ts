import type { CallTarget } from "../../execution/call/call.ts";
import type { BlockSelector } from "../../rpc/params/block-selector.ts";
import type { ExecutionPort } from "../../rpc/ports/execution.ts";
import { resolveState } from "../../rpc/ports/local/resolve.ts";
import { traceCalls, traceRawTransaction } from "../../tracing/parity/trace-calls.ts";
import type { ChainCore } from "../compose/compose-chain.ts";
import type { CallLimits } from "./call-limits.ts";
import { traceOptionsFrom } from "./trace-methods.ts";

/** What `trace_callMany` and `trace_rawTransaction` need of `ExecutionPort`, on this thread. */
export function createParityTraceMethods(
  limits: Pick<CallLimits, "gasCap" | "memoryBytesMax" | "trace">,
  { reader, execution }: Pick<ChainCore, "reader" | "execution">,
): Pick<ExecutionPort, "traceCalls" | "traceRawTransaction"> {
  const optionsOf = traceOptionsFrom(limits);
  const targetAt = (at: BlockSelector): CallTarget => {
    const { executed, state } = resolveState(reader, at);
    const { header } = executed.block;
    return { state, header, blockHash: (number) => reader.hashAt(number) };
  };
  return {
    traceCalls(calls, at, request) {
      const options = { ...optionsOf(request), gasCap: limits.gasCap };
      return traceCalls(calls, targetAt(at), execution, options);
    },
    traceRawTransaction: (raw, at, request) =>
      traceRawTransaction(raw, targetAt(at), execution, optionsOf(request)),
  };
}

import type { CallTarget } from "../execution/call/call.ts";
import type { BlockSelector } from "../rpc/ports/block-selector.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import { traceCalls, traceRawTransaction } from "../tracing/parity/trace-calls.ts";
import type { ChainParts } from "./parts.ts";
import { resolveState } from "./resolve.ts";
import type { CallLimits } from "./rpc-settings.ts";
import { traceOptionsFrom } from "./trace-methods.ts";

/** What `trace_callMany` and `trace_rawTransaction` need of `ExecutionPort`, on this thread. */
export function createParityTraceMethods(
  limits: Pick<CallLimits, "gasCap" | "memoryBytesMax" | "trace">,
  { reader, execution }: Pick<ChainParts, "reader" | "execution">,
): Pick<ExecutionPort, "traceCalls" | "traceRawTransaction"> {
  const optionsOf = traceOptionsFrom(limits);
  const targetAt = (at: BlockSelector): CallTarget => {
    const { executed, state } = resolveState(reader, at);
    const { header } = executed.block;
    return { state, header, blockHash: (number) => reader.blockHash(number) };
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

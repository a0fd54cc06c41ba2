import { call, type CallOptions as ExecutionOptions } from "../execution/call.ts";
import { createAccessList } from "../execution/create-access-list.ts";
import { estimateGas } from "../execution/estimate-gas.ts";
import type { CallExecutor, CallOptions } from "../rpc/ports.ts";
import type { ResolvedState } from "../rpc/resolve.ts";
import { argumentsOf, blockOverridesOf, stateOverridesOf } from "./call-conversion.ts";
import type { ChainCore } from "./compose-chain.ts";

export type CallLimits = {
  /** Units one call may use; 0: no limit */
  readonly gasCap: bigint;
  /** 0: no limit */
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  /** Bytes one eth_call may return. */
  readonly returnBytesMax: number;
};

/** Runs calls on this thread, over the chain of `core`. */
export function createCallExecutor(
  limits: CallLimits,
  { chain, execution }: Pick<ChainCore, "chain" | "execution">,
  suggestTip: () => bigint,
): CallExecutor {
  const targetOf = ({ executed, state }: ResolvedState) => ({
    state,
    header: executed.block.header,
    blockHash: (number: number) => chain.blockByNumber(number)?.block.hash,
  });
  const optionsOf = ({ stateOverrides, blockOverrides }: CallOptions): ExecutionOptions => ({
    gasCap: limits.gasCap,
    memoryBytesMax: limits.memoryBytesMax,
    ...(limits.timeoutMs > 0 && { timeoutMs: limits.timeoutMs }),
    ...(stateOverrides && { stateOverrides: stateOverridesOf(stateOverrides) }),
    ...(blockOverrides && { blockOverrides: blockOverridesOf(blockOverrides) }),
  });
  return {
    call: (request, at, options) =>
      call(argumentsOf(request), targetOf(at), execution, {
        ...optionsOf(options),
        returnBytesMax: limits.returnBytesMax,
      }),
    estimateGas: (request, at, options) =>
      estimateGas(argumentsOf(request), targetOf(at), execution, optionsOf(options)),
    createAccessList: (request, at, options) =>
      createAccessList(argumentsOf(request), targetOf(at), execution, {
        ...optionsOf(options),
        suggestTip,
      }),
  };
}

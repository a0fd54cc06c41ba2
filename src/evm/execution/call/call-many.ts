import { haltText } from "../../machine/halts.ts";
import { createWorldState } from "../../state/world-state.ts";
import { type CallModules, type CallOptions, type CallTarget, prepareCall, runOrRefuse } from "./call.ts";
import type { CallArguments } from "./call-arguments.ts";
import { CallRefusedError, ExecutionTimeoutError, ReturnTooLargeError, revertText } from "./call-errors.ts";
import type { BlockOverrides } from "./overrides.ts";
import { applyStateOverrides } from "./overrides.ts";

/** Calls made one after the other in one block. */
export type CallArgumentsBundle = {
  readonly calls: readonly CallArguments[];
  readonly blockOverrides?: BlockOverrides;
};

export type CallOutcome = { readonly value: Uint8Array } | { readonly error: string };

/** Seconds from one bundle's block to the next. */
export const BUNDLE_SECONDS = 12;

/**
 * eth_callMany: calls that see what the ones before did; nothing is kept. Each bundle is in a block one higher and twelve seconds
 * later than the bundle before, unless its overrides say otherwise. A call that fails is a result.
 * @throws InvalidCallArgumentsError, InvalidStateOverridesError, InvalidBlockOverridesError, ExecutionTimeoutError,
 *   ReturnTooLargeError
 */
export function callMany(
  bundles: readonly CallArgumentsBundle[],
  target: CallTarget,
  modules: CallModules,
  options: Omit<CallOptions, "blockOverrides" | "tracer"> & {
    /** More bytes than this all calls together do not return. */
    readonly returnBytesMax?: number;
  },
): readonly (readonly CallOutcome[])[] {
  const { stateOverrides, timeoutMs, ...callOptions } = options;
  const { returnBytesMax = Number.POSITIVE_INFINITY } = options;
  let returned = 0;
  const state = createWorldState(target.state);
  // A precompile that is moved would be where it goes for one call only, so none can be.
  if (stateOverrides) applyStateOverrides(stateOverrides, state, new Map());
  const end = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const { number, timestamp } = target.header;
  return bundles.map(({ calls, blockOverrides }, i) => {
    const place = {
      number: BigInt(number + i),
      time: BigInt(timestamp + i * BUNDLE_SECONDS),
    };
    return calls.map((args): CallOutcome => {
      const leftMs = end === undefined ? undefined : end - performance.now();
      // A call of an account without code runs nothing that looks at the clock, and there may be ten thousand of them.
      if (leftMs !== undefined && leftMs <= 0) throw new ExecutionTimeoutError(timeoutMs ?? 0);
      const left = leftMs === undefined ? {} : { timeoutMs: leftMs };
      const prepared = prepareCall(args, { ...target, state: state.asReader() }, modules, {
        ...callOptions,
        ...left,
        blockOverrides: { ...place, ...blockOverrides },
      });
      try {
        const result = runOrRefuse(prepared, { state });
        returned += result.returnData.length;
        if (returned > returnBytesMax) {
          throw new ReturnTooLargeError({ length: returned, returnBytesMax });
        }
        if (result.outcome === "success") return { value: result.returnData };
        if (result.halt?.kind === "timeout") throw new ExecutionTimeoutError(timeoutMs ?? 0);
        return { error: result.halt ? haltText(result.halt) : revertText(result.returnData) };
      } catch (error) {
        if (error instanceof CallRefusedError) return { error: error.message };
        throw error;
      }
    });
  });
}

import { InvalidBlockOverridesError } from "../execution/block-overrides.ts";
import { call, type CallOptions as ExecutionOptions } from "../execution/call.ts";
import type { CallArguments } from "../execution/call-arguments.ts";
import { createAccessList } from "../execution/create-access-list.ts";
import { estimateGas } from "../execution/estimate-gas.ts";
import type { AccountOverride } from "../execution/state-overrides.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import {
  type BlockOverrides,
  type CallRequest,
  calldataOf,
  type StateOverrides,
} from "../rpc/call-request.ts";
import type { CallExecutor, CallOptions } from "../rpc/ports.ts";
import type { ResolvedState } from "../rpc/resolve.ts";
import type { ChainCore } from "./compose-chain.ts";

export type CallLimits = {
  /** Units one call may use; 0: no limit */
  readonly gasCap: bigint;
  /** 0: no limit */
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
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
      call(argumentsOf(request), targetOf(at), execution, optionsOf(options)),
    estimateGas: (request, at, options) =>
      estimateGas(argumentsOf(request), targetOf(at), execution, optionsOf(options)),
    createAccessList: (request, at, options) =>
      createAccessList(argumentsOf(request), targetOf(at), execution, {
        ...optionsOf(options),
        suggestTip,
      }),
  };
}

/** Leaves out what is undefined: here absence is what counts, on the wire both mean the same. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof defined<T>>;
}

function argumentsOf(request: CallRequest): CallArguments {
  const { input: _input, data: _data, blobs, commitments, proofs, ...fields } = request;
  return defined({ ...fields, data: calldataOf(request) });
}

function stateOverridesOf(overrides: StateOverrides): ReadonlyMap<Address, AccountOverride> {
  const converted = new Map<Address, AccountOverride>();
  for (const [address, entry] of overrides) {
    const { state, stateDiff, movePrecompileToAddress, ...fields } = entry;
    converted.set(
      address,
      defined({
        ...fields,
        state: state && wordsOf(state),
        stateDiff: stateDiff && wordsOf(stateDiff),
        movePrecompileTo: movePrecompileToAddress,
      }),
    );
  }
  return converted;
}

function wordsOf(slots: ReadonlyMap<Hash, Hash>): ReadonlyMap<Hash, bigint> {
  return new Map([...slots].map(([slot, word]) => [slot, BigInt(word)]));
}

function blockOverridesOf(overrides: BlockOverrides) {
  const { number, time, difficulty: _difficulty, withdrawals, ...fields } = overrides;
  return defined({
    ...fields,
    number: safeInteger("number", number),
    time: safeInteger("time", time),
    // Refused by name wherever a single call is made; what is in it does not matter then.
    withdrawals: withdrawals === undefined || withdrawals === null ? undefined : [],
  });
}

function safeInteger(name: string, value: bigint | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new InvalidBlockOverridesError(`block override "${name}" is too large: ${value}`);
}

import type { BlockOverrides } from "../../execution/call/block-overrides.ts";
import type { CallArguments } from "../../execution/call/call-arguments.ts";
import type { AccountOverride } from "../../execution/call/state-overrides.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import {
  type CallRequest,
  calldataOf,
  type BlockOverrides as RequestedOverrides,
  type StateOverrides,
} from "../../rpc/params/call-request.ts";

/** Leaves out what is undefined: here absence is what counts, on the wire both mean the same. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: T[K] } = {};
  for (const name of Object.keys(fields) as (keyof T)[]) {
    if (fields[name] !== undefined) kept[name] = fields[name];
  }
  return kept as ReturnType<typeof defined<T>>;
}

/** `request` as `execution/` takes it; all in one shape, which is much quicker to make than copies of what is there. */
export function argumentsOf(request: CallRequest): CallArguments {
  return {
    from: request.from,
    to: request.to,
    gas: request.gas,
    gasPrice: request.gasPrice,
    maxFeePerGas: request.maxFeePerGas,
    maxPriorityFeePerGas: request.maxPriorityFeePerGas,
    value: request.value,
    nonce: request.nonce,
    data: calldataOf(request),
    accessList: request.accessList,
    chainId: request.chainId,
    maxFeePerBlobGas: request.maxFeePerBlobGas,
    blobVersionedHashes: request.blobVersionedHashes,
    authorizationList: request.authorizationList,
  };
}

export function stateOverridesOf(overrides: StateOverrides): ReadonlyMap<Address, AccountOverride> {
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

export function blockOverridesOf(overrides: RequestedOverrides): BlockOverrides {
  return defined(overrides);
}

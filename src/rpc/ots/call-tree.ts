import { precompilesAt } from "../../evm/precompiles/index.ts";
import { hardforkAt } from "../../params/hardforks.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { textString } from "../../tracing/json-writer.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ExecutionPort } from "../ports/execution.ts";

/** A frame as `callTracer` shows it. */
export type TracedCall = {
  readonly type: string;
  readonly from: Address;
  /** Absent for a creation that failed. */
  readonly to?: Address;
  readonly value?: string;
  readonly input: string;
  readonly output?: string;
  readonly error?: string;
  readonly calls?: readonly TracedCall[];
};

export type CallTreeModules = {
  readonly chain: Pick<ChainView, "transaction" | "header" | "config" | "genesisHash">;
  readonly execution: Pick<ExecutionPort, "traceTransaction">;
};

/** A frame with its depth; 0 is the outermost. */
export type CallAtDepth = {
  readonly call: TracedCall;
  readonly depth: number;
  readonly isReverted: boolean;
};

/** The frames of a mined transaction, in the order they began, without those of precompiles; undefined for an unknown transaction. */
export async function callsOf(
  transactionHash: Hash,
  { chain, execution }: CallTreeModules,
): Promise<readonly CallAtDepth[] | undefined> {
  const mined = await chain.transaction(transactionHash);
  if (!mined) return undefined;
  const sealed = await chain.header(mined.position.blockNumber);
  if (!sealed) return undefined;
  const precompiles = precompilesAt(hardforkAt(chain.config, sealed.header));
  const text = await execution.traceTransaction(transactionHash, { tracer: "callTracer" });
  return [...flatten(JSON.parse(textString(text)) as TracedCall)].filter(
    ({ call, depth }) => depth === 0 || call.to === undefined || !precompiles.has(call.to),
  );
}

/** `call` and all below it; what a failed frame did is reverted with it. */
export function* flatten(call: TracedCall, depth = 0, isReverted = false): Generator<CallAtDepth> {
  const isUndone = isReverted || call.error !== undefined;
  yield { call, depth, isReverted: isUndone };
  for (const child of call.calls ?? []) yield* flatten(child, depth + 1, isUndone);
}

import type { BlockContext } from "../../evm/evm.ts";
import { blockContextOf } from "../../execution/block/block-context.ts";
import { type CallTarget, call, type SingleCallOptions } from "../../execution/call/call.ts";
import { callMany } from "../../execution/call/call-many.ts";
import { createAccessList } from "../../execution/call/create-access-list.ts";
import { estimateGas } from "../../execution/call/estimate-gas.ts";
import type { CallExecutor, CallOptions } from "../../rpc/ports/execution.ts";
import type { ResolvedState } from "../../rpc/ports/resolve.ts";
import type { StateReader } from "../../state/reader.ts";
import { beginReplay } from "../../tracing/trace-block.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { ChainCore } from "../compose-chain.ts";
import { argumentsOf, blockOverridesOf, stateOverridesOf } from "./call-conversion.ts";

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
  const blockHash = (number: number) => chain.hashAt(number);
  /** Of the block asked for last, which mostly is the head again. */
  let last: { readonly header: Header; readonly context: BlockContext } | undefined;
  function targetOf({ executed, state }: ResolvedState): CallTarget {
    const { header } = executed.block;
    if (last?.header !== header) {
      last = { header, context: blockContextOf(header, execution.config, blockHash) };
    }
    return { state, header, blockHash, context: last.context };
  }
  const { returnBytesMax } = limits;
  const plainOptions: SingleCallOptions = {
    gasCap: limits.gasCap,
    memoryBytesMax: limits.memoryBytesMax,
    returnBytesMax,
    ...(limits.timeoutMs > 0 && { timeoutMs: limits.timeoutMs }),
  };
  function optionsOf({ stateOverrides, blockOverrides }: CallOptions): SingleCallOptions {
    if (!stateOverrides && !blockOverrides) return plainOptions;
    return {
      ...plainOptions,
      ...(stateOverrides && { stateOverrides: stateOverridesOf(stateOverrides) }),
      ...(blockOverrides && { blockOverrides: blockOverridesOf(blockOverrides) }),
    };
  }
  /** The state before transaction `index` of the block; after the block where it has not so many. */
  function stateBefore({ block, senders }: ExecutedBlock, index: number): StateReader {
    const number = block.header.number;
    if (number === 0) return chain.stateAt(0);
    const parentState = chain.stateAt(number - 1);
    const replay = beginReplay({ block, senders, parentState, blockHash }, execution);
    for (let i = 0; i < Math.min(index, block.transactions.length); i++) replay.skip();
    return replay.state.asReader();
  }

  return {
    call: (request, at, options) =>
      call(argumentsOf(request), targetOf(at), execution, optionsOf(options)),
    callMany(bundles, at, { stateOverrides, txIndex }) {
      const target = targetOf(at);
      const before = txIndex === undefined ? at.state : stateBefore(at.executed, txIndex);
      const converted = bundles.map(({ calls, blockOverrides }) => ({
        calls: calls.map(argumentsOf),
        ...(blockOverrides && { blockOverrides: blockOverridesOf(blockOverrides) }),
      }));
      return callMany(
        converted,
        { ...target, state: before },
        execution,
        optionsOf({ stateOverrides }),
      );
    },
    estimateGas: (request, at, options) =>
      estimateGas(argumentsOf(request), targetOf(at), execution, optionsOf(options)),
    createAccessList: (request, at, options) =>
      createAccessList(argumentsOf(request), targetOf(at), execution, {
        ...optionsOf(options),
        suggestTip,
      }),
  };
}

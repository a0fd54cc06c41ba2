import type { BlockTester } from "../consensus/block-tester.ts";
import type { BlockContext } from "../evm/evm.ts";
import { blockContextOf } from "../execution/block/block-context.ts";
import { type CallTarget, call, type SingleCallOptions } from "../execution/call/call.ts";
import { callMany } from "../execution/call/call-many.ts";
import { createAccessList } from "../execution/call/create-access-list.ts";
import { estimateGas } from "../execution/call/estimate-gas.ts";
import { simulate } from "../execution/simulate/simulate.ts";
import type { CallOverrides, ExecutionPort, ExecutionReads } from "../rpc/ports/execution.ts";
import type { StateReader } from "../state/reader.ts";
import { beginReplay } from "../tracing/trace-block.ts";
import type { ExecutedBlock } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import { createParityTraceMethods } from "./parity-trace-methods.ts";
import type { ChainParts } from "./parts.ts";
import { type ResolvedState, resolveState } from "./resolve.ts";
import type { CallLimits } from "./rpc-settings.ts";
import { createTraceMethods } from "./trace-methods.ts";

/** `ExecutionPort` on this thread, over the chain of `core`. */
export function createExecutionPort(
  limits: CallLimits,
  {
    core,
    blockTester,
    suggestTip,
  }: {
    readonly core: ExecutionCore;
    readonly blockTester: BlockTester;
    readonly suggestTip: () => bigint;
  },
): ExecutionPort {
  return {
    ...createExecutionReads(limits, core, suggestTip),
    ...createBlockMethods(blockTester),
  };
}

/** What executions run on and with. */
export type ExecutionCore = Pick<ChainParts, "reader" | "execution">;

/** All that needs no writer of the chain, on this thread. */
export function createExecutionReads(
  limits: CallLimits,
  { reader, execution }: ExecutionCore,
  suggestTip: () => bigint,
): ExecutionReads {
  const blockHash = (number: number) => reader.blockHash(number);
  /** Of the block of the last call, which mostly is the head again. */
  let last: { readonly header: Header; readonly context: BlockContext } | undefined;
  function targetOf({ executed, state }: ResolvedState): CallTarget {
    const { header } = executed.block;
    if (last?.header !== header) {
      last = { header, context: blockContextOf(header, execution.config, blockHash) };
    }
    return { state, header, blockHash, context: last.context };
  }
  const plainOptions: SingleCallOptions = {
    gasCap: limits.gasCap,
    memoryBytesMax: limits.memoryBytesMax,
    returnBytesMax: limits.returnBytesMax,
    ...(limits.timeoutMs > 0 && { timeoutMs: limits.timeoutMs }),
  };
  function optionsOf({ stateOverrides, blockOverrides }: CallOverrides): SingleCallOptions {
    if (!stateOverrides && !blockOverrides) return plainOptions;
    return {
      ...plainOptions,
      ...(stateOverrides && { stateOverrides }),
      ...(blockOverrides && { blockOverrides }),
    };
  }
  /** The state before transaction `index` of the block; after the block where it has fewer. */
  function stateBefore({ block, senders }: ExecutedBlock, index: number): StateReader {
    const number = block.header.number;
    if (number === 0) return reader.stateAt(0);
    const parentState = reader.stateAt(number - 1);
    const replay = beginReplay({ block, senders, parentState, blockHash }, execution);
    for (let i = 0; i < Math.min(index, block.transactions.length); i++) replay.skip();
    return replay.state.asReader();
  }

  return {
    call: (args, at, overrides) =>
      call(args, targetOf(resolveState(reader, at)), execution, optionsOf(overrides)),
    estimateGas: (args, at, overrides) =>
      estimateGas(args, targetOf(resolveState(reader, at)), execution, optionsOf(overrides)),
    createAccessList: (args, at, overrides) =>
      createAccessList(args, targetOf(resolveState(reader, at)), execution, {
        ...optionsOf(overrides),
        suggestTip,
      }),
    callMany(bundles, at, { stateOverrides, txIndex }) {
      const resolved = resolveState(reader, at);
      const target = targetOf(resolved);
      const state = txIndex === undefined ? target.state : stateBefore(resolved.executed, txIndex);
      return callMany(bundles, { ...target, state }, execution, optionsOf({ stateOverrides }));
    },
    simulate({ blocks, validation, traceTransfers }, at) {
      const { executed, state, changes } = resolveState(reader, at);
      const { hash, header } = executed.block;
      // The trie nodes of the pending block are not stored, so its changes are applied again to the head.
      const root = changes ? reader.head().block.header : header;
      const base = {
        ...{ hash, header },
        state: changes ? reader.stateAt(root.number) : state,
        stateRoot: root.stateRoot,
        ...(changes && { changes }),
        blockHash,
      };
      const { gasCap, timeoutMs, memoryBytesMax } = limits;
      return simulate(blocks, base, execution, {
        ...{ validation, traceTransfers, gasCap, memoryBytesMax },
        ...(timeoutMs > 0 && { timeoutMs }),
      });
    },
    ...createTraceMethods(limits, { reader, execution }),
    ...createParityTraceMethods(limits, { reader, execution }),
  };
}

/** The methods that build blocks, in the chain's thread. */
export function createBlockMethods(
  tester: BlockTester,
): Pick<ExecutionPort, "buildBlock" | "commitBlock"> {
  return {
    buildBlock(attributes) {
      const { sealed, value, sidecars } = tester.build(attributes);
      return { block: sealed.executed.block, requests: sealed.requests, value, sidecars };
    },
    commitBlock: (attributes) => tester.commit(attributes),
  };
}

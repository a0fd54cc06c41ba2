import type { ExecutedBlock } from "../../base/types/block.ts";
import type { WitnessModules } from "../../chain/inspect/execution-witness.ts";
import type { BlockTester } from "../../consensus/block-tester.ts";
import { blockContextOf, type ContextHeader } from "../../evm/execution/block-context.ts";
import { type CallTarget, call, type SingleCallOptions } from "../../evm/execution/call/call.ts";
import { callMany } from "../../evm/execution/call/call-many.ts";
import { createAccessList } from "../../evm/execution/call/create-access-list.ts";
import { estimateGas } from "../../evm/execution/call/estimate-gas.ts";
import { simulate } from "../../evm/execution/simulate/simulate.ts";
import type { BlockContext } from "../../evm/machine/evm.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { BlockReplay } from "../../evm/tracing/trace-block.ts";
import type { CallOverrides, ExecutionPort, InBlock } from "../../rpc/ports/execution.ts";
import { blockWitness } from "./block-witness.ts";
import type { ChainParts } from "./parts.ts";
import { findBlock, type ResolvedState, resolveState } from "./resolve.ts";
import type { CallLimits, LimitedReads } from "./rpc-settings.ts";
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

/** The modules that executions need. */
export type ExecutionCore = Pick<ChainParts, "reader" | "execution"> & Pick<WitnessModules, "store">;

/** Executions that do not need the chain's writer, on this thread. @param own limits of calls that name none */
export function createExecutionReads(
  own: CallLimits,
  { reader, execution, store }: ExecutionCore,
  suggestTip: () => bigint,
): LimitedReads {
  const blockHash = (number: number) => reader.blockHash(number);
  /** The block context of the last call; the next call is usually on the head as well. */
  let last: { readonly header: ContextHeader; readonly context: BlockContext } | undefined;
  function targetOf(
    { header: ownHeader, state }: ResolvedState,
    { inBlock: header = ownHeader, keepsFees = false }: InBlock = {},
  ): CallTarget {
    if (last?.header !== header) {
      last = { header, context: blockContextOf(header, execution.config, blockHash) };
    }
    return { state, header, blockHash, context: last.context, keepsFees };
  }
  /** The options for the limits of the last call. */
  let plain = { limits: own, options: plainOptions(own) };
  function optionsOf({ stateOverrides, blockOverrides }: CallOverrides, limits: CallLimits): SingleCallOptions {
    if (plain.limits !== limits) plain = { limits, options: plainOptions(limits) };
    if (!stateOverrides && !blockOverrides) return plain.options;
    return {
      ...plain.options,
      ...(stateOverrides && { stateOverrides }),
      ...(blockOverrides && { blockOverrides }),
    };
  }
  /** The state before transaction `index` of the block; the state after the block if it has fewer transactions. */
  function stateBefore({ block, senders }: ExecutedBlock, index: number): StateReader {
    const number = block.header.number;
    if (number === 0) return reader.stateAt(0);
    const parentState = reader.stateAt(number - 1);
    const replay = new BlockReplay({ block, senders, parentState, blockHash }, execution);
    for (let i = 0; i < Math.min(index, block.transactions.length); i++) replay.skip();
    return replay.state.asReader();
  }

  return {
    call: ({ args, at, overrides }, limits = own) =>
      call(args, targetOf(resolveState(reader, at)), execution, optionsOf(overrides, limits)),
    estimateGas: ({ args, at, overrides, ...within }, limits = own) =>
      estimateGas(args, targetOf(resolveState(reader, at), within), execution, optionsOf(overrides, limits)),
    createAccessList: ({ args, at, overrides, ...within }, limits = own) =>
      createAccessList(args, targetOf(resolveState(reader, at), within), execution, {
        ...optionsOf(overrides, limits),
        suggestTip,
      }),
    callMany({ bundles, at, request: { stateOverrides, txIndex } }, limits = own) {
      const target = targetOf(resolveState(reader, at));
      // The block was resolved, so it exists.
      const state = txIndex === undefined ? target.state : stateBefore(findBlock(reader, at)!, txIndex);
      return callMany(bundles, { ...target, state }, execution, optionsOf({ stateOverrides }, limits));
    },
    simulate({ request: { blocks, validation, traceTransfers }, at }, limits = own) {
      const { hash, header, state, changes } = resolveState(reader, at);
      // The trie nodes of the pending block are not stored, so its changes are applied to the head again.
      const root = changes ? reader.head().block.header : header;
      const base = {
        hash,
        header,
        state: changes ? reader.stateAt(root.number) : state,
        stateRoot: root.stateRoot,
        ...(changes && { changes }),
        blockHash,
      };
      const { gasCap, timeoutMs, memoryBytesMax } = limits;
      return simulate(blocks, base, execution, {
        validation,
        traceTransfers,
        gasCap,
        memoryBytesMax,
        ...(timeoutMs > 0 && { timeoutMs }),
      });
    },
    executionWitness: ({ hash }, limits = own) => blockWitness(hash, { reader, store, execution }, limits.trace),
    ...createTraceMethods(own, { reader, execution }),
  };
}

function plainOptions(limits: CallLimits): SingleCallOptions {
  const { gasCap, timeoutMs, memoryBytesMax, returnBytesMax } = limits;
  return { gasCap, memoryBytesMax, returnBytesMax, ...(timeoutMs > 0 && { timeoutMs }) };
}

export function createBlockMethods(tester: BlockTester): Pick<ExecutionPort, "buildBlock" | "commitBlock"> {
  return {
    buildBlock(attributes) {
      const { sealed, value, sidecars } = tester.build(attributes);
      const { executed, requests, accessList } = sealed;
      return { block: executed.block, requests, value, sidecars, accessList };
    },
    commitBlock: (attributes) => tester.commit(attributes),
  };
}

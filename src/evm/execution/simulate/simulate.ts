import type { Hash } from "../../../base/primitives/hash.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { Header } from "../../../base/types/header.ts";
import type { StateChanges, StateReader } from "../../state/reader.ts";
import { replayChanges } from "../../state/state-changes.ts";
import { createWorldState } from "../../state/world-state.ts";
import type { ExecutionModules } from "../block/block-execution.ts";
import type { BlockHashes } from "../block-context.ts";
import { createGasBudget } from "../call/call.ts";
import { type SimulatedCall, type SimulationOptions, simulateBlock } from "./simulate-block.ts";
import { type BlockRequest, planBlocks } from "./simulate-plan.ts";

/** What a simulation continues. */
type SimulationBase = {
  readonly hash: Hash;
  readonly header: Header;
  /** A state whose root the state trie knows. */
  readonly state: StateReader;
  readonly stateRoot: Hash;
  /** Changes between `state` and the base, if the base is not a block of the chain (`pending`). */
  readonly changes?: StateChanges;
  /** Of the blocks before the base. */
  readonly blockHash: BlockHashes;
};

export type SimulatedBlock = {
  readonly executed: ExecutedBlock;
  readonly calls: readonly SimulatedCall[];
};

/**
 * eth_simulateV1: executes `requests` as blocks after `base`, each on the state the one before left. Nothing is kept.
 * @throws SimulationError, InvalidStateOverridesError, InvalidCallArgumentsError, InvalidBlockError
 */
export function simulate(
  requests: readonly BlockRequest[],
  base: SimulationBase,
  modules: ExecutionModules,
  options: SimulationOptions,
): readonly SimulatedBlock[] {
  const planned = planBlocks(requests, base.header);
  const state = createWorldState(base.state, { listsClearedSlots: false });
  if (base.changes) replayChanges(base.changes, state);
  const { gasCap, timeoutMs } = options;
  const run = {
    modules,
    state,
    options,
    baseRoot: base.stateRoot,
    budget: createGasBudget(gasCap),
    deadlineMs: timeoutMs === undefined ? undefined : performance.now() + timeoutMs,
  };
  const hashes = new Map([[base.header.number, base.hash]]);
  const blockHash: BlockHashes = (number) => hashes.get(number) ?? base.blockHash(number);
  const simulated: SimulatedBlock[] = [];
  let parent: { readonly hash: Hash; readonly header: Header } = base;
  for (const block of planned) {
    const result = simulateBlock(block, { ...parent, blockHash }, run);
    simulated.push(result);
    parent = result.executed.block;
    hashes.set(parent.header.number, parent.hash);
  }
  return simulated;
}

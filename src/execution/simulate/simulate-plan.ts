import type { Header } from "../../types/header.ts";
import type { BlockOverrides } from "../call/block-overrides.ts";
import type { CallArguments } from "../call/call-arguments.ts";
import type { StateOverrides } from "../call/state-overrides.ts";
import { SimulationError } from "./simulate-errors.ts";

/** One block a caller wants simulated. */
export type BlockRequest = {
  readonly blockOverrides?: BlockOverrides;
  readonly stateOverrides?: StateOverrides;
  readonly calls: readonly CallArguments[];
};

/** A block to simulate whose place in the chain is settled. */
export type PlannedBlock = BlockRequest & { readonly number: number; readonly timestamp: number };

/** geth's bounds for one request: entries and the distance to the base, calls a block, calls in all. */
const BLOCKS_MAX = 256;
const BLOCK_CALLS_MAX = 5_000;
const CALLS_MAX = 10_000;

/** Seconds from one block to the next where a request does not say. */
const BLOCK_SECONDS = 12;

/**
 * Refuses more than one request may hold, before anything is looked up.
 * @throws SimulationError
 */
export function assertWithinLimits(
  requests: readonly { readonly calls?: readonly unknown[] }[],
): void {
  if (requests.length > BLOCKS_MAX) limit("too many blocks");
  let total = 0;
  for (const { calls = [] } of requests) {
    if (calls.length > BLOCK_CALLS_MAX) {
      limit(`too many calls in block: ${calls.length} > ${BLOCK_CALLS_MAX}`);
    }
    total += calls.length;
    if (total > CALLS_MAX) limit(`too many calls: ${total} > ${CALLS_MAX}`);
  }
}

/**
 * Every block between the base and the last one asked for, in order: gaps are filled with empty blocks.
 * @throws SimulationError for numbers or times that do not rise, or lead too far away
 */
export function planBlocks(
  requests: readonly BlockRequest[],
  base: Pick<Header, "number" | "timestamp">,
): readonly PlannedBlock[] {
  const planned: PlannedBlock[] = [];
  let { number, timestamp } = base;
  for (const request of requests) {
    const { blockOverrides = {} } = request;
    const wanted = blockOverrides.number ?? number + 1;
    if (wanted <= number) {
      throw new SimulationError(
        "SIMULATE_BLOCK_NUMBER_ORDER",
        `block numbers must be in order: ${wanted} <= ${number}`,
      );
    }
    if (wanted - base.number > BLOCKS_MAX) limit("too many blocks");
    for (number++; number < wanted; number++) {
      timestamp += BLOCK_SECONDS;
      planned.push({ number, timestamp, calls: [] });
    }
    const time = blockOverrides.time ?? timestamp + BLOCK_SECONDS;
    if (time <= timestamp) {
      throw new SimulationError(
        "SIMULATE_BLOCK_TIMESTAMP_ORDER",
        `block timestamps must be in order: ${time} <= ${timestamp}`,
      );
    }
    timestamp = time;
    planned.push({ ...request, number, timestamp });
  }
  return planned;
}

function limit(message: string): never {
  throw new SimulationError("SIMULATE_LIMIT_EXCEEDED", message);
}

import type { NetworkNode } from "../../test/network/network.ts";
import { cpuSecondsOf, mainThreadSecondsOf } from "../support/peers.ts";

/** Processor time of a validator, in seconds, or in microseconds for each transfer. */
export type Cost = {
  /** The node's first thread: pool, execution, state, log, answers. */
  readonly main: number;
  /** The node's other threads: V8's, reads and writes of files, hashing. */
  readonly others: number;
  readonly engine: number;
};

const PARTS = ["main", "others", "engine"] as const;

export function costOf(node: NetworkNode): Cost {
  const [own, engine] = node.pids() as [number, number];
  const main = mainThreadSecondsOf(own);
  return { main, others: cpuSecondsOf(own) - main, engine: cpuSecondsOf(engine) };
}

/** What `nodes` took since `before`, in microseconds for each of `transfers`. */
export function costsSince(before: readonly Cost[], nodes: readonly NetworkNode[], transfers: number): Cost[] {
  return nodes.map((node, index) =>
    eachPart((part) => ((costOf(node)[part] - before[index]![part]) * 1e6) / transfers),
  );
}

export function meanOf(costs: readonly Cost[]): Cost {
  return eachPart((part) => costs.reduce((sum, cost) => sum + cost[part], 0) / costs.length);
}

function eachPart(value: (part: keyof Cost) => number): Cost {
  return Object.fromEntries(PARTS.map((part) => [part, value(part)])) as Cost;
}

/** What a validator does for every transfer of the network, and what the one does besides that a caller gives it to. */
export type Shares = { readonly every: Cost; readonly accepting: Cost };

/** @param costs of the nodes where all transfers were given to the first */
export function sharesOf([first, ...others]: readonly Cost[]): Shares {
  const every = meanOf(others);
  return { every, accepting: eachPart((part) => Math.max(0, first![part] - every[part])) };
}

/**
 * Transfers a second that `validators` of equal votes can take, each on a machine of its own with four cores or more: the node's first thread is the narrowest
 * part. Callers are spread over all of them. The engine's time is for its peers as well as for the transfer; were all of it for peers, it would grow
 * with their number: the range is from none of it to all.
 * @param measuredWith validators of the network that `shares` is of
 */
export function predictedRates({ every, accepting }: Shares, validators: number, measuredWith: number) {
  const peers = (validators - 1) / (measuredWith - 1);
  const main = every.main + accepting.main / validators;
  const engine = every.engine + accepting.engine / validators;
  return { byMainThread: 1e6 / main, engineCores: { least: engine / main, most: (engine * peers) / main } };
}

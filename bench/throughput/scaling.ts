import { execFileSync } from "node:child_process";
import { descendantsOf, type ThreadSeconds } from "../support/thread-times.ts";

/** CPU of a transaction in microseconds. */
export type ThreadBudget = {
  /** The thread of the chain. */
  readonly chain: number;
  /** Garbage collection and compilation beside the chain's thread, in its process. */
  readonly V8: number;
  readonly libuv: number;
  /** Threads of the node in the chain's process. */
  readonly threads: number;
  /** RPC processes as a whole, and of that their first threads. */
  readonly RPC: number;
  readonly "RPC serial": number;
  readonly total: number;
};

export function threadBudgetOf({ chain, v8, libuv, threads, processes }: ThreadSeconds): ThreadBudget {
  const own = sum(Object.values(threads));
  const rpc = sum(processes.map(({ all }) => all));
  const total = chain + v8 + libuv + own + rpc;
  return {
    chain: tenths(chain),
    V8: tenths(v8),
    libuv: tenths(libuv),
    threads: tenths(own),
    RPC: tenths(rpc),
    "RPC serial": tenths(sum(processes.map(({ first }) => first))),
    total: tenths(total),
  };
}

export type Scaling = {
  readonly load: string;
  readonly cores: number;
  readonly kind: "measured" | "predicted";
  readonly "tx/s": number;
};

const PREDICTED_CORES = [4, 8, 16];
/** The default of `json-rpc.processes`: one a core but the chain's, so many at most. */
const RPC_PROCESSES_MAX = 4;

export const ASSUMED =
  "1 / max(chain, RPC serial / RPC processes, total / cores), with the CPU of a transaction as measured on this machine, as many RPC processes as the " +
  "default has, all but the chain's thread and the first threads of RPC processes divided over all cores, and senders on another machine";

/** What more cores give at most: each of these alone holds the rest up. */
export function predictionsOf(load: string, budget: ThreadBudget): readonly Scaling[] {
  return PREDICTED_CORES.map((cores) => {
    const processes = Math.min(RPC_PROCESSES_MAX, cores - 1);
    const us = Math.max(budget.chain, budget["RPC serial"] / processes, budget.total / cores);
    return { load, cores, kind: "predicted", "tx/s": Math.round(1e6 / us) };
  });
}

/** Lets a process, its threads and those it started run on the first `cores` cores only. What they start inherits it. */
export function pinToCores(pid: number, cores: number): void {
  for (const each of [pid, ...descendantsOf(pid)]) {
    execFileSync("taskset", ["-a", "-p", "-c", `0-${cores - 1}`, String(each)], { stdio: "ignore" });
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

import { readdirSync, readFileSync } from "node:fs";
import { cpuSecondsOf } from "./peers.ts";

/** CPU of a node in seconds, by what it ran in. */
export type ThreadSeconds = {
  /** The thread that the process began with: what has to be in order. */
  readonly chain: number;
  /** Garbage collection and compilation of the chain's process, beside its threads. */
  readonly v8: number;
  /** File operations of the chain's process, and addons that use its pool. */
  readonly libuv: number;
  /** Threads of the node in the chain's process by name, such as `execute`; those that have ended are `ended`. */
  readonly threads: Readonly<Record<string, number>>;
  /** Each process that it started, as a whole; of Node.js also its first thread. */
  readonly processes: readonly { readonly all: number; readonly first: number }[];
};

/**
 * Threads that Node.js 20 starts before any program runs, which it does not name: four workers and a timer of V8, and the listener for a signal of the
 * inspector. Later versions name them, and those of libuv.
 */
const UNNAMED_OF_V8 = 6;

/** What a process and those it started have used so far. */
export function threadSecondsOf(pid: number): ThreadSeconds {
  const first = commOf(pid, pid);
  const sum = { v8: 0, libuv: 0 };
  const threads: Record<string, number> = {};
  const children: number[] = [];
  let unnamed = 0;
  let living = 0;
  const ids = readdirSync(`/proc/${pid}/task`, "latin1").map(Number);
  for (const id of ids.sort((a, b) => a - b)) {
    const seconds = threadSeconds(pid, id);
    const name = commOf(pid, id);
    children.push(...childrenOf(pid, id));
    living += seconds;
    if (id === pid) continue;
    if (name === first) sum[unnamed++ < UNNAMED_OF_V8 ? "v8" : "libuv"] += seconds;
    else if (/v8|delayed|signal/i.test(name)) sum.v8 += seconds;
    else if (/^(libuv|iou)/i.test(name)) sum.libuv += seconds;
    else threads[name] = (threads[name] ?? 0) + seconds;
  }
  // Of those that live it is exact, of all it is counted in ticks.
  threads["ended"] = Math.max(0, cpuSecondsOf(pid) - living);
  const processes = children.map((child) => ({ all: cpuSecondsOf(child), first: threadSeconds(child, child) }));
  return { chain: threadSeconds(pid, pid), ...sum, threads, processes };
}

/** CPU between two looks, in microseconds for each of `count` operations. Processes must be the same in both. */
export function threadMicroseconds(before: ThreadSeconds, after: ThreadSeconds, count: number): ThreadSeconds {
  const each = (from: number, to: number) => Math.round(((to - from) * 1e7) / count) / 10;
  return {
    chain: each(before.chain, after.chain),
    v8: each(before.v8, after.v8),
    libuv: each(before.libuv, after.libuv),
    threads: Object.fromEntries(
      Object.entries(after.threads).map(([name, seconds]) => [name, each(before.threads[name] ?? 0, seconds)]),
    ),
    processes: after.processes.map(({ all, first }, i) => ({
      all: each(before.processes[i]?.all ?? 0, all),
      first: each(before.processes[i]?.first ?? 0, first),
    })),
  };
}

/** Processes that `pid` started, and those that these did. */
export function descendantsOf(pid: number): readonly number[] {
  const own = readdirSync(`/proc/${pid}/task`, "latin1").flatMap((id) => childrenOf(pid, Number(id)));
  return own.flatMap((child) => [child, ...descendantsOf(child)]);
}

function childrenOf(pid: number, thread: number): readonly number[] {
  return read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number);
}

/** Of a thread that is gone: nothing. The first figure is nanoseconds on a processor. */
function threadSeconds(pid: number, thread: number): number {
  return Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]) / 1e9;
}

function commOf(pid: number, thread: number): string {
  return read(`/proc/${pid}/task/${thread}/comm`).trim();
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

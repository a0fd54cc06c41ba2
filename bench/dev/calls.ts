import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import {
  type CallCounts,
  type CountedNode,
  type CountedOperation,
  OPERATIONS,
  operationsOf,
  type ProbedNode,
  startCountedNode,
  startProbedNode,
} from "../../test/support/call-counts.ts";
import { printTable, writeResult } from "../support/report.ts";

/** What follows an answer, such as the pending block, has run by then. */
const SETTLED_MS = 150;
const RUNS = 100;
/** Counted from the beginning of the process. */
const START = "start, first answer";

/** V8 collects nothing in an operation with so large a young generation, so the growth of the heap is what was allocated. */
const RESOURCES = ["--min-semi-space-size=128", "--max-semi-space-size=128"];
const PROBE = new URL("./resources-probe.mjs", import.meta.url).href;
const ARGS = ["start", "--dev", "--port", "0", "--log.level", "error"];

/**
 * What the first and the hundredth of each operation take, until the answer and after it: functions called, and different ones; in a second process without
 * that count KB allocated and waits that a wake-up ended, of all threads; and system calls, where strace is on PATH. Each figure is that of one run;
 * timers that fire in it make the difference of some per cent between two runs.
 *
 * @param args an operation and a number: prints as many of its most frequent functions
 */
export async function run([wanted, shown = "60"]: readonly string[]): Promise<void> {
  const rows = new Map<string, Record<string, string | number>>();
  const counted = await startCountedNode(...ARGS);
  await eachOperation(counted, async (operation, work) => {
    if (operation !== START) await counted.take();
    await work();
    const answer = await counted.take();
    await setTimeout(SETTLED_MS);
    const after = await counted.take();
    rows.set(operation, {
      operation,
      calls: answer.calls,
      functions: answer.functions,
      "calls after the answer": after.calls,
      "functions after": after.functions,
    });
    if (operation === `${wanted}, hundredth`) printHottest({ answer, after }, Number(shown));
  });
  const probed = await startProbedNode([...RESOURCES, "--import", PROBE], ARGS);
  await eachOperation(probed, async (operation, work) => {
    const before = operation === START ? NOTHING : ((await probed.ask()) as Usage);
    await work();
    await setTimeout(SETTLED_MS);
    const { heap, switches } = (await probed.ask()) as Usage;
    Object.assign(rows.get(operation)!, {
      // The collector may run all the same, where much memory outside the heap is freed.
      "KB allocated": heap < before.heap ? "collected" : Math.round((heap - before.heap) / 1024),
      "wake-ups": switches - before.switches,
    });
  });
  const traced = await startProbedNode([], ARGS);
  await eachOperation(traced, async (operation, work) => {
    // strace would miss what the start did before it was attached.
    const calls =
      operation === START ? undefined : await systemCalls(traced.pid, () => work().then(() => setTimeout(SETTLED_MS)));
    rows.get(operation)!["system calls"] = calls ?? "not counted";
  });
  printTable([...rows.values()]);
  writeResult("calls", [...rows.values()]);
}

/** In bytes since the start of the process, and waits of its threads that something ended. */
type Usage = { readonly heap: number; readonly switches: number };
const NOTHING: Usage = { heap: 0, switches: 0 };

/** Puts the start, and the first and the hundredth run of each operation to `measure`; stops the node. */
async function eachOperation(
  node: CountedNode | ProbedNode,
  measure: (operation: string, work: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  try {
    await measure(START, () => node.call("eth_chainId", []));
    const operations: Readonly<Record<string, CountedOperation>> = operationsOf(node);
    for (let run = 1; run <= RUNS; run++) {
      for (const operation of OPERATIONS) {
        const { prepare, run: work } = operations[operation]!;
        await prepare?.();
        if (run > 1 && run < RUNS) await work();
        else await measure(`${operation}, ${run === 1 ? "first" : "hundredth"}`, work);
      }
    }
  } finally {
    await node.stop();
  }
}

/** System calls of all threads of a process during `work`; undefined without strace. */
async function systemCalls(pid: number, work: () => Promise<void>): Promise<number | undefined> {
  const strace = spawn("strace", ["-f", "-c", "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(strace, "exit").catch(() => undefined);
  let output = "";
  strace.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  while (!output.includes("attached") && strace.exitCode === null && strace.pid !== undefined) await setTimeout(10);
  await work();
  strace.kill("SIGINT");
  await exited;
  const [, calls] = /^100\.00 +\S+ +\S+ +(\d+).* total$/m.exec(output) ?? [];
  return calls === undefined ? undefined : Number(calls);
}

function printHottest(counts: Readonly<Record<string, CallCounts>>, shown: number): void {
  for (const [title, { hottest }] of Object.entries(counts)) {
    console.log(`${title}:`);
    for (const { name, calls } of hottest.slice(0, shown)) console.log(`${String(calls).padStart(6)}  ${name}`);
  }
}

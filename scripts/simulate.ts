/** `npm run simulate`: whole networks in one process, on virtual time, with everything going wrong (docs/simulation.md). */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { catchMutants } from "../test/simulation/runner/catch-mutants.ts";
import { commandFor, HELP, planFor, readOptions, type SimulateOptions } from "../test/simulation/runner/options.ts";
import type { Result } from "../test/simulation/runner/protocol.ts";
import { addResults, resultsOf, type SimulationResults } from "../test/simulation/runner/results.ts";
import { runSeeds } from "../test/simulation/runner/run-seeds.ts";
import { shrink } from "../test/simulation/runner/shrink.ts";
import { SimulationProcess } from "../test/simulation/runner/simulation-process.ts";
import { timeLine } from "../test/simulation/runner/time-line.ts";
import { buildWorker } from "../test/simulation/runner/worker-bundle.ts";
import type { Plan } from "../test/simulation/scenario/plan.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Seeds whose violations are cut down; one is enough to begin with. */
const SHRUNK_MAX = 3;

process.exitCode = await simulate();

async function simulate(): Promise<number> {
  let options: SimulateOptions;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (options.needsHelp) {
    console.log(HELP);
    return 0;
  }
  if (options.mutants !== undefined) return catchMutants(root, options.mutants, options);
  return runAll(await buildWorker(join(root, ".cache/simulation/worker.mjs")), options);
}

async function runAll(bundle: string, options: SimulateOptions): Promise<number> {
  const { seed, seeds, seconds, parallel, hasTrace, page, results: file } = options;
  const hasWords = hasTrace || page !== undefined;
  const failed: { readonly result: Result; readonly plan: Plan }[] = [];
  let total = addResults();
  const started = performance.now();
  const isOver = (index: number) =>
    seconds === undefined ? index >= seeds : performance.now() - started > 1_000 * seconds;
  let index = 0;
  await runSeeds(bundle, {
    next: () => (isOver(index) ? undefined : planFor(options, String(Number(seed) + index++))),
    parallel,
    hasWords,
    onResult(result, plan) {
      total = addResults(total, resultsOf(result, plan));
      if (result.violation) failed.push({ result, plan });
      if (hasTrace) for (const { time, source, text } of result.lines) console.log(lineOf(time, source, text));
      if (page !== undefined) writeFileSync(page, timeLine(result, plan));
      if (seeds === 1 || hasTrace || result.violation) console.log(summaryOf(result, plan));
    },
  });
  for (const { result, plan } of failed.slice(0, SHRUNK_MAX)) await explain(bundle, { result, plan, options });
  console.log(
    `${total.seeds - total.failed} of ${total.seeds} seeds green: ${(total.virtualMs / 3_600_000).toFixed(2)} virtual hours in ${(total.cpuMs / 1_000).toFixed(0)} s of processor time, ${total.blocks} blocks, ${total.acknowledged} acknowledged transactions`,
  );
  if (file !== undefined) {
    const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as SimulationResults) : undefined;
    writeFileSync(file, `${JSON.stringify(addResults(before, total), undefined, 2)}\n`);
  }
  return failed.length === 0 ? 0 : 1;
}

type Failure = { readonly result: Result; readonly plan: Plan; readonly options: SimulateOptions };

/** Cuts a violation down, and says how to see it again. */
async function explain(bundle: string, { result, plan, options }: Failure): Promise<void> {
  const runner = new SimulationProcess(bundle);
  try {
    const again = await runner.run(plan);
    if (again.hash !== result.hash) console.log(`seed ${plan.seed} did not do the same twice`);
    const isCut = Object.values(options.cut).some((part) => part !== undefined);
    const { cut, result: smallest } = isCut
      ? { cut: options.cut, result }
      : await shrink(plan, result, (each) => runner.run(each));
    console.log(`seed ${plan.seed}: ${smallest.violation!.message}`);
    if (smallest.violation!.cause) console.log(smallest.violation!.cause);
    console.log(`again: ${commandFor(options, plan.seed, cut)} --trace`);
  } finally {
    runner.close();
  }
}

function summaryOf(result: Result, { seed, engine, nodes }: Plan): string {
  const { virtualMs, blocks, acknowledged, hash, violation, cpuMs } = result;
  const outcome = violation ? violation.message : "green";
  return `seed ${seed}: ${nodes.length} × ${engine}, ${(virtualMs / 1_000).toFixed(0)} virtual s in ${(cpuMs / 1_000).toFixed(1)} s, ${blocks} blocks, ${acknowledged} acknowledged, trace ${hash}, ${outcome}`;
}

function lineOf(time: number, source: string, text: string): string {
  return `${(time / 1_000).toFixed(3).padStart(9)} ${source.padEnd(16)} ${text}`;
}

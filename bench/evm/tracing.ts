/** What call-level tracing costs: the same programs without a tracer, with hooks that do nothing, and with callTracer's. */
import { createEvm } from "../../src/evm/engine.ts";
import type { ExecuteOptions } from "../../src/evm/evm.ts";
import { createCallFrameRecorder } from "../../src/tracing/call-frames.ts";
import { geometricMean, median } from "../support/load.ts";
import { printTable, writeResult } from "../support/report.ts";
import { timeOnEngine } from "./engines.ts";
import { PROGRAMS } from "./programs.ts";

const TURNS = 31;

export async function run(): Promise<void> {
  const evm = createEvm();
  const rows = PROGRAMS.map((program) => {
    const plain: number[] = [];
    const emptyHooks: number[] = [];
    const callTracer: number[] = [];
    let calls = 0;
    let logs = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      plain.push(timeOnEngine(evm, program).cpuMs);
      calls = 0;
      logs = 0;
      const counting = { onEnter: () => calls++, onExit: () => {}, onLog: () => logs++ };
      emptyHooks.push(timeOnEngine(evm, program, { tracer: counting }).cpuMs);
      callTracer.push(timeOnEngine(evm, program, withCallTracer()).cpuMs);
    }
    const percent = (traced: readonly number[]) => 100 * (median(traced) / median(plain) - 1);
    return {
      program: program.name,
      calls,
      logs,
      "plain CPU ms": median(plain),
      "empty hooks +%": percent(emptyHooks),
      "callTracer +%": percent(callTracer),
    };
  });
  printTable(rows);
  const mean = (column: "empty hooks +%" | "callTracer +%") =>
    100 * (geometricMean(rows.map((row) => 1 + row[column] / 100)) - 1);
  const summary = {
    "empty hooks +%, geometric mean": mean("empty hooks +%"),
    "callTracer +%, geometric mean": mean("callTracer +%"),
  };
  printTable([summary]);
  writeResult("evm-tracing", rows, summary);
}

function withCallTracer(): ExecuteOptions {
  const recorder = createCallFrameRecorder(0);
  return {
    tracer: {
      onEnter: (start) => recorder.onEnter(start),
      onExit: (end) => recorder.onExit(end),
      onLog: (log) => recorder.onLog(log),
    },
  };
}

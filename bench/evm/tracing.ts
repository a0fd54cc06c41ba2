/** What call-level tracing costs: programs without a tracer, with hooks that do nothing, with callTracer, and with its logs. */
import { setFlagsFromString } from "node:v8";
import { createEvm } from "../../src/evm/machine/engine.ts";
import type { Tracer } from "../../src/evm/machine/tracer.ts";
import { FrameTables, FrameTreeRecorder } from "../../src/evm/tracing/call-frames.ts";
import { geometricMean, median } from "../support/load.ts";
import { printTable, writeResult } from "../support/report.ts";
import { timeOnEngine } from "./engines.ts";
import { PROGRAMS } from "./programs.ts";

const TURNS = 5;
/** Executions of one kind in a row, which pay for the garbage they make and not for that of the others. */
const BLOCK = 6;

const UNLIMITED = { take() {} };

export async function run(): Promise<void> {
  // On a busy machine the threads of a parallel collection wait for each other, and waiting counts as CPU time.
  setFlagsFromString("--no-parallel-scavenge");
  const evm = createEvm();
  const tables = new FrameTables();
  const rows = PROGRAMS.map((program) => {
    let calls = 0;
    let logs = 0;
    const kinds: Readonly<Record<Kind, () => Tracer>> = {
      plain: () => ({}),
      "empty hooks": () => ({ onEnter: () => calls++, onExit: () => {} }),
      callTracer: () => new FrameTreeRecorder(UNLIMITED, tables).hooks,
      "with logs": () => {
        const { frames, onLog: record } = new FrameTreeRecorder(UNLIMITED, tables, true).hooks;
        const onLog: Tracer["onLog"] = (log, depth) => {
          logs++;
          record?.(log, depth);
        };
        return { ...(frames && { frames }), onLog };
      },
    };
    const times = { plain: [], "empty hooks": [], callTracer: [], "with logs": [] } as Record<Kind, number[]>;
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [kind, tracer] of Object.entries(kinds) as [Kind, () => Tracer][]) {
        let cpuMs = 0;
        for (let i = 0; i < BLOCK; i++) {
          cpuMs += timeOnEngine(evm, program, kind === "plain" ? {} : { tracer: tracer() }).cpuMs;
        }
        times[kind].push(cpuMs / BLOCK);
      }
    }
    const percent = (kind: Kind) => 100 * (median(times[kind]) / median(times.plain) - 1);
    return {
      program: program.name,
      calls: calls / (TURNS * BLOCK),
      logs: logs / (TURNS * BLOCK),
      "plain CPU ms": median(times.plain),
      "empty hooks +%": percent("empty hooks"),
      "callTracer +%": percent("callTracer"),
      "with logs +%": percent("with logs"),
    };
  });
  printTable(rows);
  const mean = (column: "empty hooks +%" | "callTracer +%" | "with logs +%") =>
    100 * (geometricMean(rows.map((row) => 1 + row[column] / 100)) - 1);
  const summary = {
    "empty hooks +%, geometric mean": mean("empty hooks +%"),
    "callTracer +%, geometric mean": mean("callTracer +%"),
    "with logs +%, geometric mean": mean("with logs +%"),
  };
  printTable([summary]);
  writeResult("evm-tracing", rows, summary);
}

type Kind = "plain" | "empty hooks" | "callTracer" | "with logs";

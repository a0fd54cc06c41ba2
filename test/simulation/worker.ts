/**
 * Runs the plans that come as lines of JSON, one after the other, and writes a line with the result of each. It is bundled with a simulated
 * world (`build.mjs`); `runner/simulation-process.ts` is the other end.
 */
import "../../src/node/roles/chain/network-engine.ts";
import { cpuMs, heapBytes, onEachLine, writeLine } from "./kernel/host.ts";
import type { Request, Result } from "./runner/protocol.ts";
import { runPlan } from "./scenario/run.ts";

onEachLine((line) => {
  const { plan, hasWords } = JSON.parse(line) as Request;
  const before = cpuMs();
  const { violation, lines, ...facts } = runPlan(plan, hasWords);
  const result: Result = {
    ...facts,
    cpuMs: cpuMs() - before,
    heapBytes: heapBytes(),
    violation: violation && { check: violation.check, message: violation.message, cause: textOf(violation.cause) },
    lines,
  };
  writeLine(JSON.stringify(result));
});

function textOf(cause: unknown): string | undefined {
  if (cause === undefined) return undefined;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

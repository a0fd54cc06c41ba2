import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { assertExpected, errorLinesOf } from "../support/node-log.ts";
import type { HomeReport, KillResult } from "./storm.ts";
import { StormHome, type StormHomeOptions } from "./storm-home.ts";
import { logFileOf } from "./storm-node.ts";

/** Of the node's log, shown with a failure. */
const LOG_LINES = 60;

/** Of a node whose RPC process is killed, or starved by a busy machine. */
const POSSIBLE_ERRORS = [
  /RPC process ended, starting another.*"reason":"SIGKILL"/,
  /RPC process did not open the index in time/,
];

export type ShortStorm = Pick<StormHomeOptions, "seed" | "kills"> &
  Partial<Omit<StormHomeOptions, "directory" | "firstPort" | "onKill">>;

/** Kills the nodes of one home. @throws StormFailure */
export async function shortStorm(given: ShortStorm) {
  const directory = mkdtempSync(join(tmpdir(), "evmint-storm-"));
  const kills: KillResult[] = [];
  const onKill = (kill: KillResult) => kills.push(kill);
  try {
    const home = new StormHome({ engine: "solo", directory, firstPort: await freePort(), onKill, ...given });
    const report: HomeReport = await home.run();
    assertExpected(errorLinesOf(readFileSync(logFileOf(directory), "utf8")), [], POSSIBLE_ERRORS);
    return { report, kills };
  } catch (error) {
    const lines = readFileSync(logFileOf(directory), "utf8").split("\n").slice(-LOG_LINES);
    if (error instanceof Error) error.message += `\nThe log ends with:\n${lines.join("\n")}`;
    throw error;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

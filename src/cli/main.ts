import { fatalTimers } from "../base/telemetry/fatal-timers.ts";
import type { NodeOperations } from "../node/roles/types.ts";
import { runCli } from "./program.ts";

/** A reader that takes longer for the last output has stopped reading. */
const OUTPUT_TIMEOUT_MS = 2_000;

/** The command line on this process: what `bin/evmintd.js` runs. */
export async function main(loadOperations = loadNode): Promise<void> {
  // `evmintd … | head` closes the pipe early, which must not stop a node.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  // Nor is a log that cannot be written: the disk of its file is full, its terminal is closed.
  process.stderr.on("error", () => {});
  // Node.js would open a debugger, which every user of the machine could use.
  process.on("SIGUSR1", () => process.stderr.write("evmintd: ignored SIGUSR1, which would open a debugger\n"));
  const code = await runCli(process.argv.slice(2), {
    environment: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    now: Date.now,
    timers: fatalTimers,
    loadOperations,
    onSignal(listener) {
      process.on("SIGINT", listener).on("SIGTERM", listener);
      return () => process.off("SIGINT", listener).off("SIGTERM", listener);
    },
    crashSource: process,
    exitNow: process.exit,
  });
  // A leaked handle must not keep a stopped node alive; pending output must not be lost unless its reader is gone.
  fatalTimers.after(OUTPUT_TIMEOUT_MS, "output", () => process.exit(code), { keepsAlive: true });
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

async function loadNode(): Promise<NodeOperations> {
  return (await import("../node/roles/operations.ts")).nodeOperations;
}

import type { NodeOperations } from "../node/types.ts";
import { runCli } from "./program.ts";

/** The command line on this process: what `bin/evmintd.js` runs. */
export async function main(loadOperations = loadNode): Promise<void> {
  for (const output of [process.stdout, process.stderr]) {
    // `evmintd … | head` closes the pipe early; that is no reason to stop a node.
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  const code = await runCli(process.argv.slice(2), {
    environment: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    now: Date.now,
    loadOperations,
    onSignal(listener) {
      process.on("SIGINT", listener).on("SIGTERM", listener);
      return () => process.off("SIGINT", listener).off("SIGTERM", listener);
    },
    crashSource: process,
    exitNow: process.exit,
  });
  // A handle somebody forgot must not keep a stopped node alive; pending output must not be lost.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

async function loadNode(): Promise<NodeOperations> {
  return (await import("../node/operations.ts")).nodeOperations;
}

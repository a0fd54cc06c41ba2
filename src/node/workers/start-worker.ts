import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Modules of this directory that threads and processes run, named without their extension. */
export type WorkerEntry =
  | "compile-contracts"
  | "compile-solidity"
  | "execute"
  | "fetch-remote"
  | "find-whisper-work"
  | "prove-blobs"
  | "recover-senders"
  | "rpc-worker"
  | "verify-sidecar";

/** A module for tests of threads, which the bundle does not have. */
export type TestWorkerEntry = `testing/${string}`;

/** A process that runs the module `entry`, with messages as structured clones. Its errors go where this process's go. */
export function forkWorker(entry: WorkerEntry): ChildProcess {
  const isBuilt = !import.meta.url.endsWith(".ts");
  const file = isBuilt ? "./worker.js" : `./${entry}.ts`;
  return fork(fileURLToPath(new URL(file, import.meta.url)), isBuilt ? [entry] : [], {
    execArgv: isBuilt ? [] : ["--import", "tsx"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

/**
 * A thread that runs the module `entry`. Once built, the thread loads the bundle, which has the module; from the sources the
 * module is TypeScript, which a thread of Node 20 has to be taught.
 */
export function startWorker(entry: WorkerEntry | TestWorkerEntry, options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith(".ts")) {
    const url = new URL("./worker.js", import.meta.url);
    // Node's options are those of the program that embeds the node: `--input-type` and `--import` would break its threads.
    return new Worker(url, { ...options, argv: [entry], execArgv: [] });
  }
  const { href } = new URL(`./${entry}.ts`, import.meta.url);
  const code = `import("tsx/esm/api").then(({ register }) => { register(); return import("${href}"); });`;
  return new Worker(code, { ...options, eval: true });
}

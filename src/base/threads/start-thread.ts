import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { closeNativeCalls, createNativeCallGate, type NativeCallGate, type ThreadStart } from "./native-calls.ts";

/**
 * The module of a thread or child process: its path below `src/` without the extension. `package/bundle/entries.ts` lists the modules in the
 * bundle.
 */
export type ThreadEntry = `${string}.thread`;
export type ProcessEntry = `${string}.process`;

const IS_BUILT = !import.meta.url.endsWith(".ts");

/**
 * Starts a process that runs the module `entry`, with messages as structured clones.
 * @param stderr `inherit`: shares this process's; `ignore` is for processes whose output strangers control
 */
export function startProcess(entry: ProcessEntry, stderr: "inherit" | "ignore" = "inherit"): ChildProcess {
  const file = IS_BUILT ? "./worker.js" : `../../${entry}.ts`;
  return fork(fileURLToPath(new URL(file, import.meta.url)), IS_BUILT ? [entry] : [], {
    execArgv: IS_BUILT ? [] : ["--import", "tsx"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", stderr, "ipc"],
  });
}

/** No addon call takes this long: a thread that hangs in one is ended despite the risk. */
const NATIVE_CALL_MS_MAX = 10_000;

export class NodeThread extends Worker {
  readonly #nativeCalls: NativeCallGate;

  constructor(file: string | URL, options: WorkerOptions) {
    const nativeCalls = createNativeCallGate();
    const start: ThreadStart = { nativeCalls, data: options.workerData };
    super(file, { ...options, workerData: start });
    this.#nativeCalls = nativeCalls;
  }

  /** Ends the thread while it is outside of native addons; a plain `terminate` may abort the process. */
  async end(): Promise<void> {
    await closeNativeCalls(this.#nativeCalls, NATIVE_CALL_MS_MAX);
    await this.terminate();
  }
}

/**
 * A thread that runs the module `entry`, with `workerData` as its `threadData`. Once built, the thread loads the bundle, which contains the
 * module. In the sources the module is TypeScript, for which Node 20 needs a loader.
 */
export function startThread(entry: ThreadEntry, options: WorkerOptions): NodeThread {
  if (IS_BUILT) {
    const url = new URL("./worker.js", import.meta.url);
    // Node's options belong to the program that embeds the node: `--input-type` and `--import` would break its threads.
    return new NodeThread(url, { ...options, argv: [entry], execArgv: [] });
  }
  const { href } = new URL(`../../${entry}.ts`, import.meta.url);
  const code = `import("tsx/esm/api").then(({ register }) => { register(); return import("${href}"); });`;
  return new NodeThread(code, { ...options, eval: true });
}

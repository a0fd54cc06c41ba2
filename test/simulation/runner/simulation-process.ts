import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Plan } from "../scenario/plan.ts";
import { emptyResult, type Request, type Result } from "./protocol.ts";

/** Plans that a process runs before another one takes its place: what the engine of JavaScript keeps of each adds up. */
const PLANS_MAX = 200;
const HEAP_MIB_MAX = 2_048;

/** A simulation that takes longer than this in real time does not end. */
const RUN_MS_MAX = 600_000;

/** A process with the bundle of `worker.ts`, which runs one plan at a time. */
export class SimulationProcess {
  readonly #bundle: string;
  #child: ChildProcess | undefined;
  #plans = 0;
  #onLine: ((line: string) => void) | undefined;
  #onExit: ((reason: string) => void) | undefined;
  #errors = "";

  /** @param bundle path of the built worker */
  constructor(bundle: string) {
    this.#bundle = bundle;
  }

  /** A process that ends or hangs is a violation too: of the check "simulator". */
  async run(plan: Plan, hasWords = false): Promise<Result> {
    if (this.#plans++ % PLANS_MAX === 0) this.close();
    this.#child ??= this.#start();
    const request: Request = { plan, hasWords };
    const { promise, resolve } = withResolvers<Result>();
    this.#onLine = (line) => resolve(JSON.parse(line) as Result);
    this.#onExit = (reason) => resolve(lostResult(plan, `${reason}: ${this.#errors.slice(-2_000)}`));
    const timer = setTimeout(() => this.#child?.kill("SIGKILL"), RUN_MS_MAX);
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#onLine = undefined;
      this.#onExit = undefined;
    }
  }

  close(): void {
    this.#child?.removeAllListeners("exit");
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const args = ["--enable-source-maps", `--max-old-space-size=${HEAP_MIB_MAX}`, this.#bundle];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.#errors = "";
    createInterface({ input: child.stdout }).on("line", (line) => this.#onLine?.(line));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString("utf8")).slice(-10_000);
    });
    child.once("exit", (code, signal) => {
      this.#child = undefined;
      this.#onExit?.(`the process of the simulation ended with ${signal ?? code}`);
    });
    return child;
  }
}

function lostResult(plan: Plan, message: string): Result {
  return { ...emptyResult(plan), violation: { check: "simulator", message, cause: undefined } };
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

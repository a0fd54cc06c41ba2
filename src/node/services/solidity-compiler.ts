import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import { Channel, type ChannelMessage } from "../../base/threads/channel.ts";
import { startProcess } from "../../base/threads/start-thread.ts";
import type { Compiler, CompilerOutput } from "../../rpc/ports/tools.ts";
import { CompilerBusyError, CompilerError } from "../../rpc/transport/errors.ts";
import type { CompilerProcessHandlers } from "./compile-solidity.process.ts";
import { COMPILER_LIMITS } from "./compiler-limits.ts";

/** Loading the program takes about 0.3 s, and many times that on a busy machine. */
const START_MS_MAX = 30_000;
const CLOSED = "the node is stopping";

/** As if `solc` were not installed. */
const NO_COMPILER: SolidityCompiler = {
  compilerVersion: async () => undefined,
  compile: () => Promise.reject(new CompilerError("solc: not enabled")),
  close() {},
};

export type SolidityCompiler = Compiler & {
  /** Ends the running compilation; calls fail. */
  close(): void;
};

/**
 * The npm package `solc`, which compiles one source at a time.
 * @param isEnabled false: disabled even if installed. A source is half a minute of work, which every caller may request
 * @param timeoutMs for one source
 */
export function createSolidityCompiler(isEnabled: boolean, timers: Timers, timeoutMs: number): SolidityCompiler {
  return isEnabled ? new ProcessCompiler(timers, timeoutMs) : NO_COMPILER;
}

/** Each source gets a new process, because the compiler frees no memory, and V8's limits do not cover WebAssembly memory. */
class ProcessCompiler implements SolidityCompiler {
  readonly #timers: Timers;
  readonly #timeoutMs: number;
  readonly #running = new Set<CompilerRun>();
  #sources = 0;
  #lastSource: Promise<unknown> = Promise.resolve();
  #version: Promise<string | undefined> | undefined;
  #isClosed = false;

  constructor(timers: Timers, timeoutMs: number) {
    this.#timers = timers;
    this.#timeoutMs = timeoutMs;
  }

  /** Does not queue behind sources. */
  compilerVersion(): Promise<string | undefined> {
    this.#version ??= this.#run("version", undefined).catch(() => undefined);
    return this.#version;
  }

  async compile(input: object): Promise<CompilerOutput> {
    if (this.#sources > COMPILER_LIMITS.waitingMax) throw new CompilerBusyError();
    this.#sources++;
    const run = this.#lastSource.then(() => this.#run("compile", input));
    this.#lastSource = run.catch(() => {});
    try {
      return JSON.parse(await run) as CompilerOutput;
    } catch (error) {
      const cause = error as Error;
      throw new CompilerError(`solc: ${cause.message}`, {}, { cause });
    } finally {
      this.#sources--;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const run of this.#running) run.end(CLOSED);
  }

  async #run(name: keyof CompilerProcessHandlers, input: object | undefined): Promise<string> {
    if (this.#isClosed) throw new CompilerError(CLOSED);
    const run = new CompilerRun(name, input, this.#timers, this.#timeoutMs);
    this.#running.add(run);
    try {
      return await run.answer;
    } finally {
      this.#running.delete(run);
      run.end("over");
    }
  }
}

/** One call in a separate process. */
class CompilerRun {
  /** @throws CompilerError */
  readonly answer: Promise<string>;
  readonly #timers: Timers;
  readonly #child = startProcess("node/services/compile-solidity.process", "ignore");
  #reject: (error: Error) => void = () => {};
  #timer: Timer;

  constructor(name: keyof CompilerProcessHandlers, input: object | undefined, timers: Timers, timeoutMs: number) {
    this.#timers = timers;
    this.#timer = this.#endAfter(START_MS_MAX, "no process started");
    const child = this.#child;
    // On a send error the process exits, and its `exit` event follows.
    const channel = new Channel<CompilerProcessHandlers>((message) => child.send(message, () => {}));
    this.answer = new Promise((resolve, reject) => {
      this.#reject = reject;
      // The first message signals that its program is loaded.
      child.once("message", () => {
        this.#timer.cancel();
        this.#timer = this.#endAfter(timeoutMs, `timeout after ${timeoutMs} ms`);
        child.on("message", (message: ChannelMessage) => channel.receive(message));
        channel.call(name, input as never).then(resolve, reject);
      });
    });
    child.on("error", (error) => this.end(error.message));
    child.on("exit", (code, signal) => this.end(`its process ended (${signal ?? code})`));
  }

  /** Ends the process, and fails the call unless it has been answered. */
  end(reason: string): void {
    this.#timer.cancel();
    this.#reject(new CompilerError(reason));
    this.#child.kill("SIGKILL");
  }

  #endAfter(ms: number, reason: string): Timer {
    return this.#timers.after(ms, "compiler", () => this.end(reason), { keepsAlive: true });
  }
}

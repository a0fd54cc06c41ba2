/** `node:child_process`: programs of the machine, which run in the same simulation. */
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { currentProcess } from "../kernel/current.ts";
import type { SimulatedProcess } from "../kernel/process.ts";

type SpawnOptions = { readonly stdio?: unknown };

export class ChildProcess extends EventEmitter {
  readonly stdout: PassThrough | null;
  readonly stderr: PassThrough | null;
  readonly pid: number;
  readonly #child: SimulatedProcess;
  exitCode: number | null = null;

  constructor(child: SimulatedProcess, hasOutput: boolean) {
    super();
    this.#child = child;
    this.pid = child.id;
    this.stdout = hasOutput ? new PassThrough() : null;
    this.stderr = hasOutput ? new PassThrough() : null;
    const parent = currentProcess();
    child.onOutput = (stream, line) => {
      if (parent.isAlive) parent.after(0.05, () => this[stream]?.write(`${line}\n`));
    };
    child.onExit(({ code, signal }) => {
      if (!parent.isAlive) return;
      parent.after(0.5, () => {
        this.exitCode = code;
        this.stdout?.end();
        this.stderr?.end();
        this.emit("exit", code, signal);
        // After the last line of output.
        parent.after(0.1, () => this.emit("close", code, signal));
      });
    });
  }

  kill(signal: "SIGTERM" | "SIGKILL" | "SIGINT" = "SIGTERM"): boolean {
    if (!this.#child.isAlive) return false;
    if (signal === "SIGKILL") this.#child.kill();
    else this.#child.signal(signal);
    return true;
  }

  ref() {}
  unref() {}
}

export function spawn(path: string, args: readonly string[], { stdio }: SpawnOptions = {}): ChildProcess {
  const parent = currentProcess();
  const name = path.slice(path.lastIndexOf("/") + 1);
  const program = parent.machine.programs.get(name);
  if (program === undefined) throw new Error(`no program ${path} on a simulated machine`);
  const child = parent.machine.start(name, (process) => program(process, args), parent);
  return new ChildProcess(child, stdio !== "ignore");
}

export function spawnSync(path: string): never {
  throw new Error(`${path}: no program can be waited for in a simulation`);
}

export const execFileSync = spawnSync;

export function fork(): never {
  throw new Error("RPC processes are left out of simulations");
}

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PATIENT_ENVIRONMENT, patient } from "../support/patient.ts";
import { StormFailure } from "./failure.ts";
import { NoAnswerError, Rpc } from "./rpc.ts";

const VICTIM = fileURLToPath(new URL("victim.mjs", import.meta.url));
/** A start that takes longer hangs, also on a machine that does other work. */
const START_MS_MAX = 300_000;
/** The other processes of a node that was killed have to end within this time. */
const ORPHAN_MS_MAX = 120_000;
/** CometBFT ends at once, or waits for ever for an answer of the node. */
const ENGINE_MS_MAX = 3_000;

/** A process, and not another one that got its id later. */
export type ProcessId = { readonly pid: number; readonly start: string };

/** The step at which a node kills itself, at its `hits`-th time. */
export type ArmedStep = { readonly step: string; readonly hits: number };

export type VictimOptions = {
  readonly home: string;
  readonly dev: boolean;
  /** By key, as flags would set them. */
  readonly flags: Readonly<Record<string, string>>;
  /** Limits of files and merges, of `OpenChainOptions`. */
  readonly hooks: Readonly<Record<string, unknown>>;
  /** Gets the node's log, and its standard error. */
  readonly logFile: string;
  /** From the first moment on. */
  readonly armed?: ArmedStep | undefined;
  /** A module that changes the process before the node begins: for tests of the storm, whose nodes have faults. */
  readonly preload?: string | undefined;
};

type Urls = { readonly http: string; readonly ws: string; readonly ipc: string; readonly metrics?: string };

/** One life of a node: its process and the processes that this started. */
export class NodeProcess {
  readonly child: ChildProcess;
  /** When it was spawned, by the monotonic clock. */
  readonly spawnedMs = performance.now();
  /** Settles with the signal or exit code that ended it. */
  readonly exited: Promise<string>;
  readonly #urls: Promise<Urls>;
  #rpc: Rpc | undefined;
  #ended: string | undefined;
  /** Processes it was seen with, by id, with their start times: ids are used again. */
  readonly #children = new Map<number, string>();

  constructor(options: VictimOptions) {
    const log = openSync(options.logFile, "a");
    const preload = options.preload === undefined ? [] : ["--import", options.preload];
    const victim = JSON.stringify({ ...options, environment: PATIENT_ENVIRONMENT, limits: patient() });
    this.child = spawn(process.execPath, [...preload, VICTIM, victim], {
      stdio: ["pipe", "pipe", log],
      // Ctrl-C at the terminal ends the storm in order, and is not a signal to the nodes.
      detached: true,
      env: { PATH: process.env["PATH"] },
    });
    closeSync(log);
    this.child.stdin!.on("error", () => {});
    this.exited = new Promise((resolve) => {
      this.child.once("exit", (code, signal) => {
        this.#ended = signal ?? `exit code ${code}`;
        resolve(this.#ended);
      });
    });
    this.#urls = new Promise((resolve, reject) => {
      this.child.stdout!.once("data", (text: Buffer) => resolve(JSON.parse(text.toString()) as Urls));
      void this.exited.then((end) => reject(new NoAnswerError(`it ended with ${end} before it answered`)));
    });
    this.#urls.catch(() => {});
  }

  get rpc(): Rpc {
    return this.#rpc!;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  async httpUrl(): Promise<string> {
    return (await this.#urls).http;
  }

  async wsUrl(): Promise<string> {
    return (await this.#urls).ws;
  }

  async ipcPath(): Promise<string> {
    return (await this.#urls).ipc;
  }

  /** Where it shows its metrics; undefined where it does not. */
  async metricsUrl(): Promise<string | undefined> {
    return (await this.#urls).metrics;
  }

  /** Leaves all connections, for a new one that is answered. */
  async reconnect(): Promise<void> {
    this.#rpc?.close();
    this.#rpc = new Rpc((await this.#urls).http);
    await this.#rpc.call("eth_blockNumber");
  }

  /**
   * Waits for the first answer to `eth_blockNumber`.
   * @returns milliseconds since the process was spawned
   * @throws StormFailure, NoAnswerError where it dies before
   */
  async firstAnswer(): Promise<number> {
    const tooLate = new AbortController();
    const timeout = sleep(START_MS_MAX, undefined, { signal: tooLate.signal }).then(
      () => Promise.reject(new StormFailure("NO_START", `no answer within ${START_MS_MAX / 1000} s`)),
      () => new Promise<never>(() => {}),
    );
    try {
      const { http } = await Promise.race([this.#urls, timeout]);
      this.#rpc = new Rpc(http);
      await Promise.race([this.#rpc.call("eth_blockNumber"), timeout]);
    } finally {
      tooLate.abort();
    }
    return performance.now() - this.spawnedMs;
  }

  arm({ step, hits }: ArmedStep): void {
    this.child.stdin!.write(`${step} ${hits}\n`);
  }

  /** The processes that it started and that run: RPC processes, CometBFT. Once it has ended, those of the last call. */
  children(): readonly number[] {
    for (const pid of this.hasEnded ? [] : childrenOf(this.child.pid!)) {
      const start = startOf(pid);
      if (start !== undefined) this.#children.set(pid, start);
    }
    return [...this.#children.keys()].filter((pid) => this.#isAlive(pid));
  }

  /** Children by the name of their program. */
  childrenNamed(name: string): readonly number[] {
    return this.children().filter((pid) => programOf(pid) === name);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Kills the process and, where asked, all that it started. */
  async kill({ withChildren = false }: { readonly withChildren?: boolean } = {}): Promise<void> {
    const children = this.children();
    this.child.kill("SIGKILL");
    if (withChildren) for (const pid of children) killProcess(pid);
    await this.exited;
    this.#rpc?.close();
  }

  /**
   * Waits until nothing of the node runs: what it started ends with it.
   * @returns CometBFT where it does not, which the next start has to kill
   * @throws StormFailure where another process does not
   */
  async ended(): Promise<readonly ProcessId[]> {
    this.#rpc?.close();
    const begin = performance.now();
    const isLate = (limitMs: number) => performance.now() - begin > limitMs;
    let left = this.children();
    while (left.length > 0) {
      if (isLate(ENGINE_MS_MAX) && left.every((pid) => programOf(pid) === "cometbft")) break;
      if (isLate(ORPHAN_MS_MAX)) throw processLeft(left);
      await sleep(5);
      left = this.children();
    }
    return left.map((pid) => ({ pid, start: this.#children.get(pid)! }));
  }

  #isAlive(pid: number): boolean {
    return startOf(pid) === this.#children.get(pid);
  }
}

/** Waits for processes that a new node ends. @throws StormFailure where one lives on */
export async function assertEnded(processes: readonly ProcessId[]): Promise<void> {
  const begin = performance.now();
  const left = () => processes.filter(isRunning).map(({ pid }) => pid);
  while (left().length > 0) {
    if (performance.now() - begin > ORPHAN_MS_MAX) throw processLeft(left());
    await sleep(5);
  }
}

function processLeft(pids: readonly number[]): StormFailure {
  const names = pids.map((pid) => `${programOf(pid)} (${pid}, ${waitsOf(pid)})`);
  for (const pid of pids) killProcess(pid);
  return new StormFailure("PROCESS_LEFT", `${names.join(", ")} outlived the node by ${ORPHAN_MS_MAX} ms`);
}

/** Ends this process, and not another one that got its id. */
export function killSame(id: ProcessId): void {
  if (isRunning(id)) killProcess(id.pid);
}

function isRunning({ pid, start }: ProcessId): boolean {
  return startOf(pid) === start;
}

/** Ends a process, unless it has ended. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function childrenOf(pid: number): readonly number[] {
  return (readProc(pid, `task/${pid}/children`) ?? "").split(" ").filter(Boolean).map(Number);
}

/** Start time of a process, in ticks; undefined where none runs, or where it is only waited for. */
function startOf(pid: number): string | undefined {
  // The name of the program in parentheses can hold spaces.
  const fields = readProc(pid, "stat")?.split(") ").at(-1)?.split(" ");
  return fields === undefined || fields[0] === "Z" ? undefined : fields[19];
}

/** What the threads of a process wait for, as the kernel names it: a slow disk, or each other. */
function waitsOf(pid: number): string {
  const waits = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const state = readProc(pid, `task/${thread}/stat`)?.split(") ").at(-1)?.slice(0, 1);
    return `${state} ${readProc(pid, `task/${thread}/wchan`)} ${readProc(pid, `task/${thread}/syscall`)?.split(" ")[0]}`;
  });
  return waits.join("; ");
}

/** Not the comm of the process, which is the name of its main thread: Node.js 24 calls it MainThread. */
function programOf(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return "";
  }
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}

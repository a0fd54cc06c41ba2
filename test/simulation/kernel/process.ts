import type { Disk, OpenFile } from "./disk.ts";
import type { QueuedEvent } from "./event-queue.ts";
import type { Machine } from "./machine.ts";
import type { Random } from "./random.ts";
import type { Simulation } from "./simulation.ts";

/** Thrown in a process that was killed inside a call: none of its code does anything any more. */
export class ProcessEndedError extends Error {
  override readonly name = "ProcessEndedError";
}

/** Programs do not ask for a disk's free space before each write. */
const FULL_UNSEEN_MS = 1_000;

export type Exit = { readonly code: number | null; readonly signal: "SIGKILL" | "SIGTERM" | "SIGBUS" | null };

/** One run of a program on a machine. */
export class SimulatedProcess {
  readonly id: number;
  readonly name: string;
  readonly machine: Machine;
  readonly parent: SimulatedProcess | undefined;
  /** Its own draws, as of `crypto.randomBytes`. */
  readonly random: Random;
  /** Open files by descriptor. */
  readonly files = new Map<number, OpenFile>();
  #lastDescriptor = 2;
  /** True time up to which its processor works: no event of it runs before. */
  busyUntil = 0;
  /** Milliseconds that it has computed in the event of this number. */
  #computed = { event: 0, ms: 0 };
  /** The main thread's longest uninterrupted computation, in milliseconds, without waits for the disk. */
  longestComputation = 0;
  #isStopped = false;
  #exit: Exit | undefined;
  readonly #onExit = new Set<(exit: Exit) => void>();
  /** Called for signals that a program can see. */
  onSignal: ((signal: "SIGTERM" | "SIGINT") => void) | undefined;
  /** Takes each line that it writes to its standard output or its standard error. */
  onOutput: ((stream: "stdout" | "stderr", line: string) => void) | undefined;
  /** Handles an uncaught exception. */
  onUncaught: ((error: unknown) => void) | undefined;

  constructor(machine: Machine, name: string, parent: SimulatedProcess | undefined) {
    this.machine = machine;
    this.parent = parent;
    this.id = machine.simulation.nextProcessId();
    this.name = name;
    this.random = machine.simulation.random.stream(`process ${this.id}`);
  }

  get simulation(): Simulation {
    return this.machine.simulation;
  }

  get disk(): Disk {
    return this.machine.disk;
  }

  get isAlive(): boolean {
    return this.#exit === undefined;
  }

  /** @throws ProcessEndedError in what is left of a process that was killed */
  assertAlive(): void {
    if (this.#exit !== undefined) throw new ProcessEndedError(`${this.name} was ended`);
  }

  after(delay: number, work: () => void): QueuedEvent {
    this.assertAlive();
    return this.simulation.after(delay, this, work);
  }

  /** Its processor is busy for `ms`, or waits for the disk: whatever it does next comes later. */
  charge(ms: number): void {
    this.busyUntil = Math.max(this.busyUntil, this.simulation.now) + ms;
  }

  /** Its processor computes for `ms`, in its main thread. */
  compute(ms: number): void {
    this.charge(ms);
    const { events } = this.simulation;
    const before = this.#computed.event === events ? this.#computed.ms : 0;
    this.#computed = { event: events, ms: before + ms };
    this.longestComputation = Math.max(this.longestComputation, before + ms);
  }

  /** True time as its code sees it pass: later than the event began by what it was charged. */
  get localNow(): number {
    return Math.max(this.simulation.now, this.#isStopped ? 0 : this.busyUntil);
  }

  /** SIGSTOP for so long. */
  pause(ms: number): void {
    this.simulation.log(this.name, `paused for ${Math.round(ms)} ms`);
    this.busyUntil = Math.max(this.busyUntil, this.simulation.now + ms);
  }

  openFile(file: OpenFile): number {
    const descriptor = ++this.#lastDescriptor;
    this.files.set(descriptor, file);
    return descriptor;
  }

  /** @returns removes `listener` again */
  onExit(listener: (exit: Exit) => void): () => void {
    this.#onExit.add(listener);
    return () => void this.#onExit.delete(listener);
  }

  /** Ends it in order, as `process.exit`. */
  exit(code: number): void {
    this.#end({ code, signal: null });
  }

  signal(signal: "SIGTERM" | "SIGINT"): void {
    if (!this.isAlive) return;
    const { onSignal } = this;
    if (onSignal === undefined) this.#end({ code: null, signal: "SIGTERM" });
    else this.after(0, () => onSignal(signal));
  }

  /** SIGKILL: nothing of it runs any more; the disk has all it wrote. */
  kill(): void {
    this.#end({ code: null, signal: "SIGKILL" });
  }

  /** SIGBUS: it has written to a page of a mapped file, and the disk has no space for it. A program has some time to see that a disk gets full. */
  busError(): void {
    const { simulation, disk, name } = this;
    const fullMs = simulation.now - disk.faults.filledAt;
    if (fullMs > FULL_UNSEEN_MS) simulation.violate("crash", `${name}: SIGBUS, the disk is full for ${fullMs} ms`);
    this.#end({ code: null, signal: "SIGBUS" });
  }

  uncaught(error: unknown): void {
    if (error instanceof ProcessEndedError) return;
    if (this.onUncaught) this.onUncaught(error);
    else {
      this.simulation.violate("crash", `uncaught in ${this.name}: ${String(error)}`, error);
      this.#end({ code: 70, signal: null });
    }
  }

  #end(exit: Exit): void {
    if (this.#exit !== undefined) return;
    this.#exit = exit;
    this.simulation.log(this.name, `ends: ${exit.signal ?? `code ${exit.code}`}`);
    for (const file of this.files.values()) file.close();
    this.files.clear();
    this.machine.ended(this);
    for (const listener of this.#onExit) listener(exit);
  }
}

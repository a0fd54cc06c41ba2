import { EventQueue, type QueuedEvent } from "./event-queue.ts";
import { Network } from "./network.ts";
import type { SimulatedProcess } from "./process.ts";
import { Random } from "./random.ts";
import { Trace } from "./trace.ts";

/** Unix time at which every simulation begins, in milliseconds: 2027-01-15T08:00:00Z. */
export const START_OF_TIME = 1_800_000_000_000;

/** Something that must never happen did. */
export class ViolationError extends Error {
  override readonly name = "ViolationError";
  /** The check that found it. */
  readonly check: string;
  constructor(check: string, message: string, options?: ErrorOptions) {
    super(`${check}: ${message}`, options);
    this.check = check;
  }
}

/** Events at one moment of virtual time: more of them is a loop in which time stands still. */
const EVENTS_AT_ONCE_MAX = 200_000;

/** Runs what waits in Node's queues of microtasks and ticks. An internal of Node that timers call between two callbacks. */
const drainMicrotasks = (globalThis.process as unknown as { readonly _tickCallback: () => void })._tickCallback;

/**
 * Virtual time, chance and the queue of everything that is to happen. One event runs at a time, with all promises that it settles; no other process runs
 * meanwhile, so that whatever runs belongs to the process of the event.
 */
export class Simulation {
  readonly seed: string;
  readonly random: Random;
  readonly trace: Trace;
  readonly network: Network;
  readonly #queue = new EventQueue();
  /** Milliseconds since the start. */
  #now = 0;
  #current: SimulatedProcess | undefined;
  #violation: ViolationError | undefined;
  #processes = 0;
  events = 0;

  /** @param keepsLines the trace is written in words too */
  constructor(seed: string, keepsLines = false) {
    this.seed = seed;
    this.random = new Random(seed);
    this.trace = new Trace(keepsLines);
    this.network = new Network(this);
  }

  /** True time in milliseconds, which no clock of a machine shows. */
  get now(): number {
    return this.#now;
  }

  /** The process whose event runs; undefined in the simulator's own. */
  get current(): SimulatedProcess | undefined {
    return this.#current;
  }

  get violation(): ViolationError | undefined {
    return this.#violation;
  }

  nextProcessId(): number {
    return ++this.#processes;
  }

  /** Calls `work` in `delay` ms as the process `owner`, unless that has ended by then. */
  after(delay: number, owner: SimulatedProcess | undefined, work: () => void): QueuedEvent {
    return this.#queue.add(this.#now + Math.max(0, delay), owner, work);
  }

  /** Ends the simulation with the first thing that must not happen. */
  violate(check: string, message: string, cause?: unknown): void {
    this.#violation ??= new ViolationError(check, message, cause === undefined ? undefined : { cause });
    this.log("VIOLATION", this.#violation.message);
  }

  /** A line of the trace, which enters its hash. */
  log(source: string, text: string): void {
    this.trace.line(this.#now, source, text);
  }

  /** Runs `work` as the process `owner`, at once; what it throws is that process's crash. */
  as(owner: SimulatedProcess | undefined, work: () => void): void {
    const before = this.#current;
    this.#current = owner;
    try {
      work();
    } catch (error) {
      this.failed(error);
    } finally {
      this.#current = before;
    }
  }

  /** An uncaught exception or rejection. */
  failed(error: unknown): void {
    const owner = this.#current;
    if (owner === undefined) this.violate("simulator", String(error), error);
    else if (owner.isAlive) owner.uncaught(error);
  }

  /**
   * Runs all events up to `time`, or to the first violation. It must be called outside of microtasks.
   * @param time milliseconds since the start
   */
  runUntil(time: number): void {
    let atOnce = 0;
    const onRejection = (error: unknown) => this.failed(error);
    globalThis.process.on("unhandledRejection", onRejection);
    try {
      for (let event = this.#queue.next(time); event; event = this.#queue.next(time)) {
        const { owner, work } = event;
        if (owner !== undefined) {
          if (!owner.isAlive) continue;
          if (owner.busyUntil > event.time) {
            this.#queue.defer(event, owner.busyUntil);
            continue;
          }
        }
        atOnce = event.time > this.#now ? 0 : atOnce + 1;
        if (atOnce > EVENTS_AT_ONCE_MAX) this.violate("simulator", "time stands still");
        this.#now = event.time;
        this.events++;
        this.#current = owner;
        this.trace.event(event.time, owner?.id ?? 0);
        try {
          work();
        } catch (error) {
          this.failed(error);
        }
        drainMicrotasks.call(globalThis.process);
        this.#current = undefined;
        if (this.#violation !== undefined) return;
      }
      this.#now = Math.max(this.#now, time);
    } finally {
      globalThis.process.off("unhandledRejection", onRejection);
    }
  }
}

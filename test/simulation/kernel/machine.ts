import { Clock } from "./clock.ts";
import { Disk } from "./disk.ts";
import { SimulatedProcess } from "./process.ts";
import type { Simulation } from "./simulation.ts";

/** Answers one request to an HTTP server. */
export type HttpHandler = (request: {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}) => Promise<{ readonly status: number; readonly body: string }>;

/** Something that listens at an address, in a process. */
export type Service<T> = { readonly process: SimulatedProcess; readonly target: T };

export type Program = (process: SimulatedProcess) => void;

/** A computer: a disk, clocks, an address, and the processes that run on it. */
export class Machine {
  readonly simulation: Simulation;
  readonly name: string;
  readonly address: string;
  readonly disk: Disk;
  readonly clock: Clock;
  /** Servers by address: `host:port`, or the path of a socket. */
  readonly listeners = new Map<string, Service<(socket: unknown) => void>>();
  readonly httpServers = new Map<string, Service<HttpHandler>>();
  /** Processes that hold a lock on a file, by its path. */
  readonly locks = new Map<string, SimulatedProcess>();
  /** Programs that processes can start, by the last part of their path. */
  readonly programs = new Map<string, (process: SimulatedProcess, args: readonly string[]) => void>();
  readonly #processes = new Set<SimulatedProcess>();
  /** Names the time since it was switched on. */
  boots = 1;

  constructor(simulation: Simulation, name: string, address: string) {
    this.simulation = simulation;
    this.name = name;
    this.address = address;
    this.clock = new Clock(() => simulation.current?.localNow ?? simulation.now);
    this.disk = new Disk(simulation.random.stream(`disk ${name}`), () => this.clock.wall());
  }

  get processes(): ReadonlySet<SimulatedProcess> {
    return this.#processes;
  }

  /** Starts `program` as a process; its first event runs now, after the waiting ones. */
  start(name: string, program: Program, parent?: SimulatedProcess): SimulatedProcess {
    const process = new SimulatedProcess(this, `${this.name}/${name}`, parent);
    this.#processes.add(process);
    process.after(0, () => program(process));
    return process;
  }

  /** Of a process that has ended: its servers and locks go with it. */
  ended(process: SimulatedProcess): void {
    this.#processes.delete(process);
    for (const services of [this.listeners, this.httpServers]) {
      for (const [address, service] of services) if (service.process === process) services.delete(address);
    }
    for (const [path, holder] of this.locks) if (holder === process) this.locks.delete(path);
    for (const file of this.disk.filesBelow("/home")) {
      if (file[1].openCount === 0) file[1].mapped?.unmap();
    }
  }

  /** kill -9 of every process. */
  killAll(): void {
    for (const process of [...this.#processes]) process.kill();
  }

  /** Everything ends, and what was not synced is lost or torn. */
  powerCut(): void {
    this.simulation.log(this.name, "power cut");
    this.killAll();
    this.disk.powerCut();
    this.boots++;
  }
}

import type { SimulatedProcess } from "./process.ts";
import type { Simulation } from "./simulation.ts";

/**
 * The simulation that runs: built-in modules of the programs in it have no other way to find it. There is one at a time in a thread.
 */
let running: Simulation | undefined;

export function enter(simulation: Simulation): void {
  running = simulation;
}

export function leave(): void {
  running = undefined;
}

/** The simulation whose code runs; undefined while the modules are loaded. */
export function currentSimulation(): Simulation | undefined {
  return running;
}

/** The process whose code runs. @throws ProcessEndedError in what is left of one that was killed; Error outside of processes */
export function currentProcess(): SimulatedProcess {
  const found = running?.current;
  if (found === undefined) throw new Error("no simulated process runs");
  found.assertAlive();
  return found;
}

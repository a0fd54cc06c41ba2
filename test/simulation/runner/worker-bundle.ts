import { fileURLToPath } from "node:url";
import { buildSimulation, type Patch } from "../build.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Builds the program of `SimulationProcess`. @returns `outfile` @param patches deliberate faults in sources */
export async function buildWorker(outfile: string, patches: readonly Patch[] = []): Promise<string> {
  await buildSimulation({ root, outfile, patches });
  return outfile;
}

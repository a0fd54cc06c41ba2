/** Nanoseconds for a unit of gas of every precompile on its worst inputs, under each fork that changed what they cost. */
import type { Hardfork } from "../../src/base/params/hardforks.ts";
import { printTable, writeResult } from "../support/report.ts";
import { precompileRows } from "../worst-case/precompiles.ts";

const FORKS: readonly Hardfork[] = ["byzantium", "istanbul", "berlin", "osaka"];

/** @param args forks to measure; all that changed a precompile unless given */
export async function run(args: readonly string[]): Promise<void> {
  const forks = args.length > 0 ? (args as Hardfork[]) : FORKS;
  const rows = forks.flatMap((fork) => precompileRows(fork));
  printTable(rows);
  writeResult("precompiles", rows);
}

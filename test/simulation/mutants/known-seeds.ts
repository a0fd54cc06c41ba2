import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "test/simulation/mutants/results.json";

/** How a mutant was caught last. */
export type KnownSeed = {
  readonly seed: string;
  /** The check that found it. */
  readonly check: string;
  /** Suitable seeds that were run from the first on, this one included. */
  readonly seeds: number;
  /** Milliseconds of virtual time and of the processor over all of them. */
  readonly virtualMs: number;
  readonly cpuMs: number;
};

export type KnownSeeds = Readonly<Record<string, KnownSeed>>;

/** By name of the mutant. @param root the package */
export function readKnownSeeds(root: string): KnownSeeds {
  const path = join(root, FILE);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as KnownSeeds) : {};
}

/** @param found replaces what is known of the same mutants */
export function writeKnownSeeds(root: string, found: KnownSeeds): void {
  const all = Object.entries({ ...readKnownSeeds(root), ...found }).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(join(root, FILE), `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
}

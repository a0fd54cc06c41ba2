import { ALL_MUTANTS } from "../mutants/all-mutants.ts";
import { ESCAPED_MUTANTS } from "../mutants/escaped.ts";
import { type KnownSeeds, readKnownSeeds, writeKnownSeeds } from "../mutants/known-seeds.ts";
import type { Mutant } from "../mutants/mutant.ts";
import { type Hunt, MutantHunter } from "./mutant-hunt.ts";
import type { SimulateOptions } from "./options.ts";

/** Violations of other checks that are shown of a mutant that was not caught. */
const OTHERS_SHOWN = 3;
const MESSAGE_CHARS_MAX = 160;

/**
 * Builds each mutant, looks for a seed that shows it, and prints a line for each. Seeds that were found are written to `mutants/results.json`, and
 * tried first the next time.
 * @param root the package
 * @param names `all`, or names with commas between
 * @returns the exit status: 1 if a mutant was not caught, 2 for a name that is none
 */
export async function catchMutants(
  root: string,
  names: string,
  { parallel }: Pick<SimulateOptions, "parallel">,
): Promise<number> {
  const every = [...ALL_MUTANTS, ...ESCAPED_MUTANTS];
  const mutants = names === "all" ? ALL_MUTANTS : every.filter(({ name }) => names.split(",").includes(name));
  if (mutants.length === 0 || (names !== "all" && mutants.length < names.split(",").length)) {
    console.error(`--mutants takes all, or names of: ${every.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  const known = readKnownSeeds(root);
  const hunts = await huntAll(root, { mutants, known, parallel });
  const escaped = hunts.filter(({ seed }) => seed === undefined);
  const cpuMs = hunts.reduce((sum, hunt) => sum + hunt.cpuMs, 0);
  const seconds = (cpuMs / 1_000).toFixed(0);
  console.log(`${hunts.length - escaped.length} of ${hunts.length} mutants caught in ${seconds} s of processor time`);
  return escaped.length === 0 ? 0 : 1;
}

type HuntOptions = {
  readonly mutants: readonly Mutant[];
  readonly known: KnownSeeds;
  readonly parallel: number;
};

async function huntAll(root: string, { mutants, known, parallel }: HuntOptions): Promise<readonly Hunt[]> {
  const waiting = [...mutants];
  const hunts: Hunt[] = [];
  console.log(lineOf(["mutant", "check", "seed", "seeds", "virtual s", "cpu s"]));
  const work = async () => {
    const hunter = await MutantHunter.open(root);
    try {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const hunt = await hunter.hunt(mutant, known[mutant.name]?.seed);
        hunts.push(hunt);
        report(hunt);
        remember(root, hunt);
      }
    } finally {
      hunter.close();
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return hunts;
}

function report({ name, seed, violation, seeds, virtualMs, cpuMs, others }: Hunt): void {
  const seconds = (ms: number) => (ms / 1_000).toFixed(0);
  const check = violation?.check ?? "NOT CAUGHT";
  console.log(lineOf([name, check, seed ?? "-", String(seeds), seconds(virtualMs), seconds(cpuMs)]));
  if (violation) console.log(`    ${violation.message.slice(0, MESSAGE_CHARS_MAX)}`);
  else for (const other of others.slice(0, OTHERS_SHOWN)) console.log(`    ${other.slice(0, MESSAGE_CHARS_MAX)}`);
}

/** What a known seed costs says nothing of the search that found it, which stays. */
function remember(root: string, { name, seed, violation, wasKnown, seeds, virtualMs, cpuMs }: Hunt): void {
  if (seed === undefined || wasKnown) return;
  const found = { seed, check: violation!.check, seeds, virtualMs, cpuMs: Math.round(cpuMs) };
  writeKnownSeeds(root, { [name]: found });
}

function lineOf([name = "", check = "", ...numbers]: readonly string[]): string {
  return [name.padEnd(44), check.padEnd(14), ...numbers.map((text) => text.padStart(9))].join(" ");
}

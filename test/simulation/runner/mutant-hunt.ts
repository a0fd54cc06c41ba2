import { join } from "node:path";
import type { CheckName, Mutant } from "../mutants/mutant.ts";
import { type Plan, planOf } from "../scenario/plan.ts";
import type { Result, Violation } from "./protocol.ts";
import { SimulationProcess } from "./simulation-process.ts";
import { buildWorker } from "./worker-bundle.ts";

/** Seeds that are looked at for suitable plans; most mutants take the first. */
const SEEDS_DRAWN_MAX = 50_000;

/** What became of a mutant. */
export type Hunt = {
  readonly name: string;
  /** The seed that showed it; undefined: none did. */
  readonly seed: string | undefined;
  readonly violation: Violation | undefined;
  /** Whether the seed was known before, and the first that was run. */
  readonly wasKnown: boolean;
  readonly seeds: number;
  readonly virtualMs: number;
  readonly cpuMs: number;
  /** Violations that do not count, with their seeds: of other checks, or of sound sources too. */
  readonly others: readonly string[];
};

/** Looks for seeds that show deliberate faults, and are green without them. */
export class MutantHunter {
  readonly #root: string;
  readonly #sound: SimulationProcess;
  /** Violations of the sound sources by plan. */
  readonly #soundResults = new Map<string, Violation | undefined>();

  /** @param root the package */
  static async open(root: string): Promise<MutantHunter> {
    return new MutantHunter(root, await buildWorker(join(root, ".cache/simulation/mutants/sound.mjs")));
  }

  private constructor(root: string, bundle: string) {
    this.#root = root;
    this.#sound = new SimulationProcess(bundle);
  }

  /** @param known a seed that showed it before, which is tried first */
  async hunt(mutant: Mutant, known?: string): Promise<Hunt> {
    const { name, patches } = mutant;
    const bundle = await buildWorker(join(this.#root, `.cache/simulation/mutants/${name}.mjs`), patches);
    const process = new SimulationProcess(bundle);
    let [seeds, virtualMs, cpuMs] = [0, 0, 0];
    const others: string[] = [];
    try {
      for (const plan of plansOf(mutant, known)) {
        const result = await process.run(plan);
        seeds++;
        virtualMs += result.virtualMs;
        cpuMs += result.cpuMs;
        const { violation } = result;
        if (violation === undefined) continue;
        if (await this.#counts(mutant, plan, violation)) {
          const { seed } = plan;
          return { name, seed, violation, wasKnown: seed === known, seeds, virtualMs, cpuMs, others };
        }
        others.push(`${plan.seed}: ${violation.check}: ${violation.message}`);
      }
      return { name, seed: undefined, violation: undefined, wasKnown: false, seeds, virtualMs, cpuMs, others };
    } finally {
      process.close();
    }
  }

  close(): void {
    this.#sound.close();
  }

  async #counts({ checks }: Mutant, plan: Plan, { check }: Violation): Promise<boolean> {
    return checks.includes(check as CheckName) && (await this.#soundViolation(plan)) === undefined;
  }

  /** Several mutants are shown by the same plan. */
  async #soundViolation(plan: Plan): Promise<Violation | undefined> {
    const text = JSON.stringify(plan);
    if (!this.#soundResults.has(text)) {
      const { violation }: Result = await this.#sound.run(plan);
      this.#soundResults.set(text, violation);
    }
    return this.#soundResults.get(text);
  }
}

/** The plans to run: that of the known seed, and the suitable ones from seed 1 on. */
function* plansOf({ plan: options, suits = () => true, seedsMax }: Mutant, known: string | undefined): Generator<Plan> {
  if (known !== undefined) yield planOf({ ...options, seed: known });
  let left = seedsMax;
  for (let number = 1; left > 0 && number <= SEEDS_DRAWN_MAX; number++) {
    const plan = planOf({ ...options, seed: String(number) });
    if (plan.seed === known || !suits(plan)) continue;
    left--;
    yield plan;
  }
}

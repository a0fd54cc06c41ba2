import { all, hasFault, hasTraffic, type Mutant } from "./mutant.ts";

/** Faults of the pool: what was acknowledged has to come into a block, and nothing else. */
export const POOL_MUTANTS: readonly Mutant[] = [
  {
    name: "acknowledged-before-journal",
    why: "A transaction is acknowledged some time before the journal has it: a kill in between loses it.",
    patches: [
      {
        file: "src/mempool/mempool.ts",
        from: `  readonly #append = (entry: PooledTransaction): void => this.#store.append(entry);`,
        to: `  readonly #append = (entry: PooledTransaction): void => void setTimeout(() => this.#store.append(entry), 1_000);`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("kill"), hasTraffic(60)),
    seedsMax: 20,
    checks: ["durability", "liveness"],
  },
  {
    name: "journal-not-read",
    why: "The pool begins empty at each start: what was acknowledged and is in no block yet is gone.",
    patches: [
      {
        file: "src/mempool/journaled-pool.ts",
        from: `mempool.addAll(submissions).entries()`,
        to: `mempool.addAll(submissions.slice(0, 0)).entries()`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("kill", "stop", "kill-at-write"), hasTraffic(60)),
    seedsMax: 20,
    checks: ["durability", "liveness"],
  },
];

import type { Plan } from "../scenario/plan.ts";
import { all, hasFault, hasGaps, hasTraffic, type Mutant } from "./mutant.ts";

/** So long that blocks come which it does not hear of. */
const isCutOffForLong = ({ faults }: Plan) => faults.some(({ kind, forMs }) => kind === "cut-off" && forMs > 15_000);

/** Faults of the pool: what was acknowledged has to come into a block, and nothing else. */
export const POOL_MUTANTS: readonly Mutant[] = [
  {
    name: "acknowledged-before-journal",
    why: "A transaction is acknowledged some time before the journal has it: a kill in between loses it.",
    patches: [
      {
        file: "src/consensus/mempool/mempool.ts",
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
        file: "src/consensus/mempool/journaled-pool.ts",
        from: `mempool.addAll(submissions).entries()`,
        to: `mempool.addAll(submissions.slice(0, 0)).entries()`,
      },
    ],
    plan: { engine: "solo" },
    suits: all(hasFault("kill", "stop", "kill-at-write"), hasTraffic(60)),
    seedsMax: 20,
    checks: ["durability", "liveness"],
  },
  {
    name: "queued-not-promoted",
    why: "A transaction that waits for a nonce is not looked at again when a block brings it: it waits for ever.",
    patches: [
      {
        file: "src/consensus/mempool/legacy-pool.ts",
        from: `    if (queued.size > 0) this.#promote(address, account);\n    this.#closeIfEmpty(address, account);`,
        to: `    this.#closeIfEmpty(address, account);`,
      },
    ],
    plan: { engine: "cometbft", nodes: 4 },
    suits: all(hasGaps, isCutOffForLong),
    seedsMax: 20,
    checks: ["answers", "liveness", "durability"],
  },
  {
    name: "replacement-loses-both",
    why: "A transaction that pays more removes the one with its nonce, and is not entered in the list itself.",
    patches: [
      {
        file: "src/consensus/mempool/nonce-list.ts",
        from: `    if (index === this.#entries.length) this.#entries.push(entry);`,
        to: `    if (isReplacement) return { added: true, replaced: old };\n    if (index === this.#entries.length) this.#entries.push(entry);`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasGaps,
    seedsMax: 8,
    checks: ["liveness", "durability", "own fault"],
  },
  {
    name: "gap-counts-as-next",
    why: "A transaction whose nonce is too high counts as executable: it is offered to blocks that cannot take it.",
    patches: [
      {
        file: "src/consensus/mempool/legacy-pool.ts",
        from: `    const isNext = nonce === account.nextNonce && account.queued.size === 0;`,
        to: `    const isNext = nonce >= account.nextNonce && account.queued.size === 0;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasGaps,
    seedsMax: 8,
    checks: ["answers", "liveness", "durability", "own fault", "model"],
  },
];

import type { Plan } from "../scenario/plan.ts";
import { hasSpeculation, type Mutant } from "./mutant.ts";

/** A contract goes to one thread, and those who call it to others: what each reads of them another one has changed. */
const hasSeveralThreads = (plan: Plan) => hasSpeculation(plan) && plan.speculationThreads > 1;

/** What was executed for a block that is not made, since those before it are removed, is packed into another one. */
const hasRemovals = (plan: Plan) => hasSpeculation(plan) && plan.rewindEveryMs > 0;

/** Faults of applying what threads executed ahead: an account or slot that was read is not compared, or a recording is applied to what it is not of. */
export const SPECULATION_MUTANTS: readonly Mutant[] = [
  {
    name: "recorded-balance-not-compared",
    why: "A recording is applied though an account that it read owns something else by now, of which it writes the old amount back.",
    patches: [
      {
        file: "src/evm/execution/parallel/recorded-execution.ts",
        from: `          account.balance === balance &&\n`,
        to: `          balance >= 0n &&\n`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasSeveralThreads,
    seedsMax: 20,
    checks: ["answers", "model", "crash", "own fault"],
  },
  {
    name: "recorded-slot-not-compared",
    why: "A recording is applied though a slot that it read has another value by now.",
    patches: [
      {
        file: "src/evm/execution/parallel/recorded-execution.ts",
        from: `        return state.storage(address, this.#name() as Hash) === this.#value();`,
        to: `        return state.storage(address, this.#name() as Hash) >= this.#value() * 0n;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasSpeculation,
    seedsMax: 20,
    checks: ["answers", "model"],
  },
  {
    name: "recorded-account-not-compared",
    why: "Accounts that were read are not compared at all, so that the nonce of one who sends goes back.",
    patches: [
      {
        file: "src/evm/execution/parallel/recorded-execution.ts",
        from: `          account.nonce === nonce &&\n          account.balance === balance &&\n`,
        to: `          nonce + balance >= 0n &&\n`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasSeveralThreads,
    seedsMax: 20,
    checks: ["answers", "model", "crash", "own fault"],
  },
  {
    name: "recording-of-another-block",
    why: "A recording is applied in whatever block its transaction is packed: also that of a block that is over, or was removed.",
    patches: [
      {
        file: "src/evm/execution/parallel/speculation.ts",
        from: `    if (key !== this.#key) {`,
        to: `    if (this.#key === "") {`,
      },
      {
        file: "src/evm/execution/parallel/speculation.ts",
        from: `isKey: contextKey(header) === this.#key };`,
        to: `isKey: contextKey(header) !== "" };`,
      },
      {
        file: "src/evm/execution/parallel/recorded-batch.ts",
        from: `if (a[field] !== b[field]) return false;`,
        to: `if (typeof a[field] !== typeof b[field]) return false;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasRemovals,
    seedsMax: 60,
    checks: ["model"],
  },
  {
    name: "recordings-by-their-place",
    why: "Recordings belong to transactions by the order in which they come, and not by hash: wrong where the thread executed in another order.",
    patches: [
      {
        file: "src/evm/execution/parallel/speculation.ts",
        from: `      this.#sent.set(hash, { batch, start: batch.starts[i]! });`,
        to: `      this.#sent.set(asked[i]?.tx.hash ?? hash, { batch, start: batch.starts[i]! });`,
      },
      {
        file: "src/evm/execution/parallel/recorded-execution.ts",
        from: `if (this.#value() !== gas || this.#value() !== reservoir) return false;`,
        to: `if (this.#value() + this.#value() < gas * reservoir * 0n) return false;`,
      },
      {
        file: "src/evm/execution/parallel/recorded-execution.ts",
        from: `if (this.#value() !== gasPrice || this.#value() !== value) return false;`,
        to: `if (this.#value() + this.#value() < gasPrice * value * 0n) return false;`,
      },
      {
        file: "src/evm/execution/parallel/recorded-execution.ts",
        from: `if (this.#name() !== caller || this.#name() !== (to ?? createAddress)) return false;`,
        to: `if (this.#name() === this.#name() && caller === (to ?? createAddress)) return false;`,
      },
      {
        file: "src/evm/execution/parallel/recorded-execution.ts",
        from: `if (this.#name() !== address) return false;`,
        to: `if (this.#name() === "" && address) return false;`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasSpeculation,
    seedsMax: 20,
    checks: ["answers", "model", "crash", "own fault"],
  },
  {
    name: "due-block-waits-for-threads",
    why: "A block that is due waits for recordings as one that is packed ahead does: a thread that hangs keeps transactions out of blocks, and those that none executes for ever.",
    patches: [
      {
        file: "src/consensus/pack-transactions.ts",
        from: `    return this.#run(timeMs, undefined);`,
        to: `    return this.runAhead(timeMs);`,
      },
    ],
    plan: { engine: "solo" },
    suits: hasSpeculation,
    seedsMax: 20,
    checks: ["liveness", "model", "crash", "own fault"],
  },
];

import { type Cut, cutPlan, type Plan } from "../scenario/plan.ts";
import type { Result } from "./protocol.ts";

/** Runs that a cut plan is tried in, at most. */
const TRIES_MAX = 60;

/**
 * Cuts a plan down to the fewest faults, nodes and users with which the same check still fails: halves of the faults first, then one by one.
 * @param run what becomes of a cut plan
 * @returns the smallest cut found, and what became of it
 */
export async function shrink(plan: Plan, found: Result, run: (plan: Plan) => Promise<Result>): Promise<Shrunk> {
  const search = new Search(plan, found, run);
  await search.dropFaults();
  await search.dropNodes();
  await search.dropUsers();
  await search.dropFaults();
  return search.smallest;
}

export type Shrunk = { readonly cut: Cut; readonly result: Result };

class Search {
  readonly #plan: Plan;
  readonly #check: string;
  readonly #run: (plan: Plan) => Promise<Result>;
  #tries = 0;
  smallest: Shrunk;

  constructor(plan: Plan, found: Result, run: (plan: Plan) => Promise<Result>) {
    this.#plan = plan;
    this.#check = found.violation!.check;
    this.#run = run;
    this.smallest = { cut: {}, result: found };
  }

  /** Leaves out runs of faults, of half their number first. */
  async dropFaults(): Promise<void> {
    const all = () => this.smallest.cut.faults ?? this.#plan.faults.map((_, index) => index);
    for (let size = Math.ceil(all().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let from = 0; from < all().length; ) {
        const faults = all().filter((_, index) => index < from || index >= from + size);
        if (!(await this.#isEnough({ ...this.smallest.cut, faults }))) from += size;
      }
    }
  }

  async dropNodes(): Promise<void> {
    for (let nodes = this.#plan.nodes.length - 1; nodes >= 1; nodes--) {
      if (!(await this.#isEnough({ ...this.smallest.cut, nodes }))) return;
    }
  }

  async dropUsers(): Promise<void> {
    for (const users of [0, 1]) if (await this.#isEnough({ ...this.smallest.cut, users })) return;
  }

  async #isEnough(cut: Cut): Promise<boolean> {
    if (this.#tries++ >= TRIES_MAX) return false;
    const result = await this.#run(cutPlan(this.#plan, cut));
    if (result.violation?.check !== this.#check) return false;
    this.smallest = { cut, result };
    return true;
  }
}

import type { Plan } from "../scenario/plan.ts";
import type { Result } from "./protocol.ts";
import { SimulationProcess } from "./simulation-process.ts";

export type Seeds = {
  /** The next plan; undefined when there are no more. */
  readonly next: () => Plan | undefined;
  readonly parallel: number;
  readonly hasWords?: boolean;
  readonly onResult: (result: Result, plan: Plan) => void;
};

/** Runs plans in processes side by side until there are no more. @param bundle path of the built worker */
export async function runSeeds(bundle: string, { next, parallel, hasWords, onResult }: Seeds): Promise<void> {
  const work = async () => {
    const process = new SimulationProcess(bundle);
    try {
      for (let plan = next(); plan; plan = next()) onResult(await process.run(plan, hasWords), plan);
    } finally {
      process.close();
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
}

import type { RemoteCall } from "./remote-calls.ts";
import { checkResult } from "./remote-results.ts";

/** How some reads are asked for on the wire, and what its answers say about them. */
type ReadPlan = {
  readonly calls: readonly RemoteCall[];
  /**
   * Results of the reads, in their order, from those of `calls`.
   * @throws ForkRemoteError, ForkProofError
   */
  resultsOf(answers: readonly unknown[]): readonly unknown[];
};

export type PlanReads = (reads: readonly RemoteCall[]) => ReadPlan;

/** Each read is asked for as it is, and believed where it has the form of its method. */
export const planPlainReads: PlanReads = (reads) => ({
  calls: reads,
  resultsOf: (answers) => reads.map((read, i) => checkResult(read, answers[i])),
});

import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Application } from "../application.ts";

/**
 * `application`, whose decided blocks are searched for proofs that a validator signed against itself. They change nothing on the chain: to vote it
 * out is the decision of the others (`clique_propose`).
 */
export function reportMisbehavior(
  application: Application,
  { metrics, log }: { readonly metrics: Pick<Metrics, "counter">; readonly log: Logger },
): Application {
  const proofs = metrics.counter({
    name: "misbehavior_total",
    help: "Proofs of misbehaviour of a validator in blocks, by kind.",
    labels: ["kind"],
  });
  return {
    ...application,
    finalizeBlock(input) {
      for (const { kind, address, height } of input.misbehavior) {
        proofs.add(1, { kind });
        const proof = { kind, validator: address, height, provenIn: input.height };
        log.error("a validator signed against itself", proof);
      }
      return application.finalizeBlock(input);
    },
  };
}

import { NodeError } from "../errors.ts";
import type { NodeOperations } from "./types.ts";

/** Replaced by the composition root; until then the command line says so instead of pretending. */
class NotBuiltError extends NodeError {
  readonly code = "NODE_NOT_BUILT";
}

async function notBuilt(): Promise<never> {
  throw new NotBuiltError("this build has no node in it");
}

export const nodeOperations: NodeOperations = {
  startNode: notBuilt,
  importChain: notBuilt,
  exportChain: notBuilt,
  checkStore: notBuilt,
  rollback: notBuilt,
  reindex: notBuilt,
};

import type { KillPlan } from "./kill-plan.ts";
import { NoAnswerError, RpcError } from "./rpc.ts";

/** What a node did that it must never do. */
export type FailureCode =
  /** A transaction whose hash was answered is neither in a block nor in the pool. */
  | "TRANSACTION_LOST"
  /** The pool or a block has a transaction that no client sent. */
  | "TRANSACTION_UNKNOWN"
  /** A block that was seen is above the head. */
  | "BLOCK_LOST"
  /** Another block is at the number of one that was seen, or blocks are not linked. */
  | "BLOCK_CHANGED"
  /** A receipt differs from the one that was seen, or from what the transaction does. */
  | "RECEIPT_CHANGED"
  /** A balance, nonce, slot, code or count of logs differs from that of the model. */
  | "STATE_DIFFERS"
  /** An answer to a valid call was an error. */
  | "CALL_FAILED"
  /** The node ended by itself, or did not answer in time. */
  | "NO_START"
  /** It answers, and makes no block. */
  | "NO_BLOCK"
  /** A process of the node outlived it. */
  | "PROCESS_LEFT"
  /** The offline check of the store found faults. */
  | "STORE_FAULTY";

/** What was answered and is not there, or is different. */
const LOSSES: ReadonlySet<FailureCode> = new Set([
  "TRANSACTION_LOST",
  "BLOCK_LOST",
  "BLOCK_CHANGED",
  "RECEIPT_CHANGED",
  "STATE_DIFFERS",
]);

/** True where something that clients rely on was lost; other failures are of the service. */
export const isLoss = (code: FailureCode): boolean => LOSSES.has(code);

/** A promise of the node that a kill has broken. */
export class StormFailure extends Error {
  readonly code: FailureCode;
  /** The kill after which it was seen; set by the storm. */
  plan: KillPlan | undefined;

  constructor(code: FailureCode, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** What `error` says of a node under a storm, if it says that. @param plan the last kill */
export function asFailure(error: unknown, plan: KillPlan | undefined): unknown {
  const failure = translated(error);
  if (failure instanceof StormFailure) failure.plan = plan;
  return failure;
}

function translated(error: unknown): unknown {
  if (error instanceof RpcError) return new StormFailure("CALL_FAILED", error.message);
  if (error instanceof NoAnswerError) return new StormFailure("NO_START", error.message);
  return error;
}

import { NodeError } from "../../base/errors.ts";
import type { ClientId } from "./client-id.ts";

/** The section with this index is incomplete, or no section is complete. The message is geth's. */
export class NoCheckpointError extends NodeError {
  readonly code = "LES_NO_CHECKPOINT";
  constructor() {
    super("no local checkpoint provided");
  }
}

/** The stored sections have another size than configured and must be recomputed. */
export class CheckpointLayoutError extends NodeError {
  readonly code = "STORE_CHECKPOINT_LAYOUT";
  constructor() {
    super("stored checkpoints have another section size");
  }
}

/** A block of the section is pruned, so its checkpoint cannot be computed. */
export class CheckpointBlockMissingError extends NodeError {
  readonly code = "LES_BLOCK_MISSING";
  constructor(number: number) {
    super(`block ${number}, which a checkpoint needs, is pruned`, { number });
  }
}

/** A positive balance above 2^63 − 1. */
export class BalanceOverflowError extends NodeError {
  readonly code = "LES_BALANCE_OVERFLOW";
  constructor() {
    super("balance overflow");
  }
}

/** Parameters of a client that is not connected cannot be set. */
export class ClientNotConnectedError extends NodeError {
  readonly code = "LES_NOT_CONNECTED";
  constructor(id: ClientId) {
    super(`client ${id} is not connected`, { id });
  }
}

/** The client wants more than the minimum capacity without a positive balance, or more than clients of lower priority can free. */
export class PriorityTooLowError extends NodeError {
  readonly code = "LES_PRIORITY_TOO_LOW";
  constructor() {
    super("priority too low to raise capacity");
  }
}

/** The parameter is unknown or its value invalid. The message is geth's. */
export class ClientParameterError extends NodeError {
  readonly code = "LES_PARAMETER";
}

/** The client used up its capacity, or the server has none left. */
export class CapacityExceededError extends NodeError {
  readonly code = "LES_CAPACITY_EXCEEDED";
  /** @param retryAfterMs included as data */
  constructor(retryAfterMs: number) {
    super("Limit exceeded", { data: { retryAfterMs: Math.ceil(retryAfterMs) } });
  }
}

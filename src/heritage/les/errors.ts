import { NodeError } from "../../base/errors.ts";
import type { ClientId } from "./client-id.ts";

/** No section of this index is complete, or none is at all. The text is geth's. */
export class NoCheckpointError extends NodeError {
  readonly code = "LES_NO_CHECKPOINT";
  constructor() {
    super("no local checkpoint provided");
  }
}

/** The stored sections have another size than the settings say: they have to be computed again. */
export class CheckpointLayoutError extends NodeError {
  readonly code = "STORE_CHECKPOINT_LAYOUT";
  constructor() {
    super("stored checkpoints have another section size");
  }
}

/** A block of a section is pruned: no checkpoint can be computed. */
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

/** A capacity above the minimum without a positive balance, or more than clients of lower priority leave. */
export class PriorityTooLowError extends NodeError {
  readonly code = "LES_PRIORITY_TOO_LOW";
  constructor() {
    super("priority too low to raise capacity");
  }
}

/** A parameter that does not exist, or a value it cannot have. Texts are geth's. */
export class ClientParameterError extends NodeError {
  readonly code = "LES_PARAMETER";
}

/** The client used up its capacity, or there is none left for it. */
export class CapacityExceededError extends NodeError {
  readonly code = "LES_CAPACITY_EXCEEDED";
  /** @param retryAfterMs sent along as data */
  constructor(retryAfterMs: number) {
    super("Limit exceeded", { data: { retryAfterMs: Math.ceil(retryAfterMs) } });
  }
}

import { NodeError } from "../../errors.ts";

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

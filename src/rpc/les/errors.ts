import { NodeError } from "../../errors.ts";

/** No checkpoint oracle is configured. The text is geth's. */
export class NoCheckpointOracleError extends NodeError {
  readonly code = "LES_NO_CHECKPOINT_ORACLE";
  constructor() {
    super("checkpoint registrar is not activated");
  }
}

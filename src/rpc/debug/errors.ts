import { NodeError } from "../../errors.ts";

/** A debug method cannot do that now, or not with these parameters. */
export class DebugError extends NodeError {
  readonly code = "DEBUG_REJECTED";
}

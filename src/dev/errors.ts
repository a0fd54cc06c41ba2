import { NodeError } from "../errors.ts";

/** A call that bends the chain cannot be done as asked; nothing has changed. */
export class DevControlError extends NodeError {
  readonly code = "DEV_CONTROL";
}

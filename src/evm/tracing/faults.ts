import { type Halt, haltText } from "../machine/halts.ts";
import type { FrameEnd, Step } from "../machine/tracer.ts";

/** Halts that show while the opcode runs; for all others the step itself has the error. */
const FAULTS: ReadonlySet<Halt["kind"]> = new Set([
  "invalidOpcode",
  "invalidJump",
  "writeProtection",
  "returnDataOutOfBounds",
  // Of CREATE, from Amsterdam: it pays for the account as it runs.
  "outOfGas",
]);

const REVERT = 0xfd;

/** Whether the frame ended because the opcode of `last` failed; REVERT counts as a failure, as in geth. */
export function isFaultOf(last: Step, end: FrameEnd, depth: number): boolean {
  if (last.depth !== depth || last.halt !== undefined) return false;
  if (end.outcome === "revert") return last.opcode === REVERT;
  return end.halt !== undefined && FAULTS.has(end.halt.kind);
}

/** geth's text of why a frame failed. */
export function errorOf({ outcome, halt }: Pick<FrameEnd, "outcome"> & { readonly halt?: Halt | undefined }) {
  if (halt) return haltText(halt);
  return outcome === "revert" ? "execution reverted" : undefined;
}

import { NodeError } from "../../errors.ts";
import { haltText } from "../../evm/halt-text.ts";
import type { Halt } from "../../evm/halts.ts";
import type { MessageResult } from "../transaction/apply-message.ts";
import { revertText } from "./revert-reason.ts";

/** The call's code reverted; `data` are the bytes it gave. */
export class ExecutionRevertedError extends NodeError {
  readonly code = "EXECUTION_REVERTED";
  readonly data: Uint8Array;
  constructor(data: Uint8Array) {
    super(revertText(data), { data });
    this.data = data;
  }
}

/** The call's code stopped without a result; the message is geth's word for why. */
class ExecutionHaltedError extends NodeError {
  readonly code = "EXECUTION_HALTED";
  readonly halt: Halt;
  constructor(halt: Halt) {
    super(haltText(halt), { halt });
    this.halt = halt;
  }
}

/** The call took longer than it may. */
export class ExecutionTimeoutError extends NodeError {
  readonly code = "EXECUTION_TIMEOUT";
  constructor(timeoutMs: number) {
    super(timeoutText(timeoutMs), { timeoutMs });
  }
}

/** The call gave more bytes than this node returns. */
export class ReturnTooLargeError extends NodeError {
  readonly code = "CALL_RETURN_TOO_LARGE";
  constructor(details: { readonly length: number; readonly returnBytesMax: number }) {
    super(`return data of ${details.length} bytes, limit ${details.returnBytesMax}`, details);
  }
}

/** The call could not even begin: it breaks a rule for messages, which is the `cause`. */
export class CallRefusedError extends NodeError {
  readonly code = "CALL_REFUSED";
}

/** No amount of gas up to the allowance lets the call succeed. */
export class GasAllowanceError extends NodeError {
  readonly code = "ESTIMATE_GAS_EXCEEDS_ALLOWANCE";
  constructor(allowance: bigint) {
    super(`gas required exceeds allowance (${allowance})`, { allowance });
  }
}

/** The sender cannot pay what the call costs beyond its gas. */
export class InsufficientFundsError extends NodeError {
  readonly code = "ESTIMATE_INSUFFICIENT_FUNDS";
}

/**
 * Throws what a result other than success means to the caller of a method.
 * @throws ExecutionRevertedError, ExecutionHaltedError, ExecutionTimeoutError
 */
export function assertSuccess(
  { outcome, halt, returnData }: Pick<MessageResult, "outcome" | "halt" | "returnData">,
  timeoutMs = 0,
): void {
  if (outcome === "revert") throw new ExecutionRevertedError(returnData);
  if (halt?.kind === "timeout") throw new ExecutionTimeoutError(timeoutMs);
  if (halt) throw new ExecutionHaltedError(halt);
}

/** geth's words for an execution that took longer than `timeoutMs`. */
export function timeoutText(timeoutMs: number): string {
  return `execution aborted (timeout = ${durationText(timeoutMs)})`;
}

/** A span of time as Go prints it: 5s, 1.5s, 250ms, 1m30s. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}

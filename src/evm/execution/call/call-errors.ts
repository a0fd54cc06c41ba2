import { NodeError } from "../../../base/errors.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { type Halt, haltText } from "../../machine/halts.ts";
import type { MessageResult } from "../transaction/apply-message.ts";

/** The call's code reverted; `data` are the bytes it gave. */
export class ExecutionRevertedError extends NodeError {
  readonly code = "EXECUTION_REVERTED";
  readonly data: Uint8Array;
  constructor(data: Uint8Array) {
    super(revertText(data), { data });
    this.data = data;
  }
}

/** The EVM halted; the message gives geth's reason. */
class ExecutionHaltedError extends NodeError {
  readonly code = "EXECUTION_HALTED";
  readonly halt: Halt;
  constructor(halt: Halt) {
    super(haltText(halt), { halt });
    this.halt = halt;
  }
}

/** The call exceeded its time limit. */
export class ExecutionTimeoutError extends NodeError {
  readonly code = "EXECUTION_TIMEOUT";
  constructor(timeoutMs: number) {
    super(timeoutText(timeoutMs), { timeoutMs });
  }
}

/** The call's output is larger than this node returns. */
export class ReturnTooLargeError extends NodeError {
  readonly code = "CALL_RETURN_TOO_LARGE";
  constructor(details: { readonly length: number; readonly returnBytesMax: number }) {
    super(`return data of ${details.length} bytes, limit ${details.returnBytesMax}`, details);
  }
}

/** The call breaks a rule for messages (see `cause`), so it was not executed. */
export class CallRefusedError extends NodeError {
  readonly code = "CALL_REFUSED";
}

/** With each access list that was tried the call accesses other slots than the list has, and a list came back. */
export class UnstableAccessListError extends NodeError {
  readonly code = "ACCESS_LIST_UNSTABLE";
  constructor() {
    super("no access list fits: with one, the call accesses other slots than without; it may need more gas");
  }
}

/** No amount of gas up to the allowance lets the call succeed. */
export class GasAllowanceError extends NodeError {
  readonly code = "ESTIMATE_GAS_EXCEEDS_ALLOWANCE";
  constructor(allowance: bigint) {
    super(`gas required exceeds allowance (${allowance})`, { allowance });
  }
}

/**
 * The sender's balance does not exceed the call's value and blob fee, so nothing is left for gas. The message is geth's, which omits the
 * numbers; `details` has them.
 */
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

const ERROR_SELECTOR = "0x08c379a0";
const PANIC_SELECTOR = "0x4e487b71";

/** Solidity's panic codes as geth words them. */
const PANICS: Readonly<Record<string, string>> = {
  "0": "generic panic",
  "1": "assert(false)",
  "17": "arithmetic underflow or overflow",
  "18": "division or modulo by zero",
  "33": "enum overflow",
  "34": "invalid encoded storage byte array accessed",
  "49": "out-of-bounds array access; popping on an empty array",
  "50": "out-of-bounds access of an array or bytesN",
  "65": "out of memory",
  "81": "uninitialized function",
};

/** `execution reverted`, with the reason behind it when `data` is `Error(string)` or `Panic(uint256)`. */
export function revertText(data: Uint8Array): string {
  const reason = revertReason(data);
  return reason === undefined ? "execution reverted" : `execution reverted: ${reason}`;
}

/** The reason in revert data; undefined if it cannot be decoded. */
export function revertReason(data: Uint8Array): string | undefined {
  if (data.length < 4) return undefined;
  const selector = bytesToHex(data.subarray(0, 4));
  const payload = data.subarray(4);
  if (selector === ERROR_SELECTOR) return decodeString(payload);
  if (selector === PANIC_SELECTOR) return decodePanic(payload);
  return undefined;
}

function decodePanic(payload: Uint8Array): string | undefined {
  if (payload.length < 32) return undefined;
  const code = bytesToBigint(payload.subarray(0, 32));
  return PANICS[code.toString()] ?? `unknown panic code: 0x${code.toString(16)}`;
}

/** ABI encoding of one string: offset of its length, length, bytes. */
function decodeString(payload: Uint8Array): string | undefined {
  const offset = wordAt(payload, 0);
  if (offset === undefined) return undefined;
  const length = wordAt(payload, offset);
  if (length === undefined || offset + 32 + length > payload.length) return undefined;
  return new TextDecoder().decode(payload.subarray(offset + 32, offset + 32 + length));
}

/** A word that can be an offset or a length in `bytes`; undefined when it can not. */
function wordAt(bytes: Uint8Array, offset: number): number | undefined {
  if (offset + 32 > bytes.length) return undefined;
  const word = bytesToBigint(bytes.subarray(offset, offset + 32));
  return word <= BigInt(bytes.length) ? Number(word) : undefined;
}

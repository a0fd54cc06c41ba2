import type { Checkpoint } from "../../base/crypto/checkpoint.ts";
import type { Address } from "../../base/primitives/address.ts";
import { endWithoutFrame, pushCall, useCachedCode } from "./frames.ts";
import { traceEnter } from "./hooks/trace-frames.ts";
import { DEPTH_MAX, flag, frame, globals, record, request } from "./memory/layout.ts";
import { CALL, CALLCODE, STATICCALL } from "./opcodes.ts";
import {
  EMPTY_SUCCESS,
  halted,
  LinearMemoryExhausted,
  logTransfer,
  memoryEnd,
  OutOfTime,
  type Session,
} from "./session.ts";
import type { Precompile } from "./state-port.ts";

const RIPEMD160 = `0x${"00".repeat(19)}03` as Address;

/** Message call (Yellow Paper 8): what CALL and its kin, or a transaction, put into `request`. */
export function enterCall(session: Session): void {
  const { memory } = session;
  if (session.tracer) traceEnter(session);
  const opcode = memory.get32(request.opcode);
  const target = memory.get32(request.target);
  const hasValue = (opcode === CALL || opcode === CALLCODE) && !memory.isZeroWord(request.value);
  if (session.depth >= DEPTH_MAX) {
    failCall(session, "callDepth");
    return;
  }
  if (hasValue && !session.journal.hasBalance(memory.get32(frame.account), request.value)) {
    failCall(session, "insufficientBalance");
    return;
  }
  const isTransfer = hasValue && opcode === CALL && target !== memory.get32(frame.account);
  if (isTransfer && !session.journal.hasRoom(target, request.value)) {
    failCall(session, "balanceOverflow");
    return;
  }
  const snapshot = memory.get32(globals.undoTop);
  const targetExists = prepareTarget(session, opcode, target, hasValue);
  const codeAccount = memory.get32(request.codeAccount);
  const sender = isTransfer && session.rules.eip7708 ? memory.get32(frame.account) : undefined;
  if (targetExists && memory.get32(target + record.flags) & flag.precompile) {
    runPrecompile(session, target, snapshot, sender);
  } else if (!targetExists || memory.get32(codeAccount + record.codeSize) === 0) {
    if (sender !== undefined) logTransfer(session, sender, target, session.depth + 1);
    endWithoutFrame(session, EMPTY_SUCCESS, "all");
  } else {
    pushCall(session, snapshot);
    // In the frame of the recipient, so it is undone with this frame.
    if (sender !== undefined) logTransfer(session, sender, target, session.depth);
    useCachedCode(session, memory.get32(codeAccount + record.codeId));
  }
}

/**
 * Creates the target of a call where needed, transfers the value, and touches it, before any code runs. False for a call
 * without value to an account that does not exist (EIP-158).
 */
function prepareTarget(session: Session, opcode: number, target: number, hasValue: boolean): boolean {
  const { memory, journal, rules } = session;
  const flags = memory.get32(target + record.flags);
  const exists = (flags & flag.exists) !== 0;
  if (opcode === STATICCALL && exists) touch(session, target);
  if (opcode !== CALL) return true;
  if (!exists) {
    if (!hasValue && rules.eip158 && (flags & flag.precompile) === 0) return false;
    journal.mark(target, flag.exists | flag.dirty | flag.touched);
  }
  if (hasValue) {
    journal.subBalance(memory.get32(frame.account), request.value);
    journal.addBalance(target, request.value);
  } else {
    touch(session, target);
  }
  return true;
}

/** The caller gets the gas back. */
function failCall(session: Session, kind: "callDepth" | "insufficientBalance" | "balanceOverflow"): void {
  endWithoutFrame(session, halted({ kind }), "all");
}

function touch(session: Session, account: number): void {
  const { memory, journal, records } = session;
  journal.mark(account, flag.touched);
  // The last byte of the address comes first.
  const isLike = memory.get32(account + record.key) === 3;
  if (isLike && records.addressOf(account) === RIPEMD160) session.touchedRipemd = true;
}

/** @param sender of a transfer that leaves a log */
function runPrecompile(session: Session, target: number, snapshot: number, sender: number | undefined): void {
  const { memory, journal, precompiles, records } = session;
  const contract = precompiles.get(records.addressOf(target))!;
  const begin = memory.get32(request.input);
  const input = memory.bytes.slice(begin, begin + memory.get32(request.inputSize));
  const gas = memory.get64(request.gas);
  const cost = contract.gas(input);
  const output = cost > gas ? undefined : contract.run(input, checkpointOf(session));
  if (output instanceof Uint8Array) {
    if (sender !== undefined) logTransfer(session, sender, target, session.depth + 1);
    endWithoutFrame(session, { ...EMPTY_SUCCESS, ...place(session, output) }, gas - cost);
    return;
  }
  journal.revert(snapshot);
  endWithoutFrame(session, halted(haltOfPrecompile(output)), "none");
}

function checkpointOf({ isOutOfTime }: Session): Checkpoint | undefined {
  if (isOutOfTime === undefined) return undefined;
  return () => {
    if (isOutOfTime()) throw new OutOfTime();
  };
}

function haltOfPrecompile(failure: Exclude<ReturnType<Precompile["run"]>, Uint8Array> | undefined) {
  return failure === undefined
    ? ({ kind: "outOfGas" } as const)
    : ({ kind: "precompile", reason: failure.reason } as const);
}

/** Brings the output to where the caller's return data belongs. */
function place(session: Session, output: Uint8Array): { output: number; outputSize: number } {
  const { memory } = session;
  const at = memoryEnd(session);
  const end = at + output.length + 64;
  if (end > memory.get32(globals.memoryLimit) || !memory.reserve(end)) {
    throw new LinearMemoryExhausted();
  }
  memory.bytes.set(output, at);
  return { output: at, outputSize: output.length };
}

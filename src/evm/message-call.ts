import type { Address } from "../primitives/address.ts";
import type { Precompile } from "./evm.ts";
import { endAtOnce, pushFrame, useCachedCode } from "./frames.ts";
import { DEPTH_MAX, flag, frame, globals, record, request } from "./layout.ts";
import {
  CALL,
  CALLCODE,
  copyWord,
  DELEGATECALL,
  EMPTY_SUCCESS,
  halted,
  LinearMemoryExhausted,
  memoryEnd,
  type Session,
  STATICCALL,
} from "./session.ts";
import { traceEnter } from "./trace-frames.ts";

const RIPEMD160 = `0x${"00".repeat(19)}03` as Address;

/** Message call (Yellow Paper 8): what CALL and its kin, or a transaction, put into `request`. */
export function enterCall(session: Session): void {
  const { memory, journal, rules } = session;
  if (session.tracer?.onEnter) traceEnter(session);
  const opcode = memory.get32(request.opcode);
  const caller = memory.get32(frame.account);
  const target = memory.get32(request.target);
  if (session.depth >= DEPTH_MAX) return refuse(session, "callDepth");
  const hasValue = (opcode === CALL || opcode === CALLCODE) && !memory.isZeroWord(request.value);
  if (hasValue && !journal.hasBalance(caller, request.value)) {
    return refuse(session, "insufficientBalance");
  }

  const snapshot = memory.get32(globals.undoTop);
  const flags = memory.get32(target + record.flags);
  if (opcode === CALL) {
    if ((flags & flag.exists) === 0) {
      if (!hasValue && rules.eip158 && (flags & flag.precompile) === 0) {
        return endAtOnce(session, EMPTY_SUCCESS, memory.get64(request.gas));
      }
      journal.mark(target, flag.exists | flag.dirty | flag.touched);
    }
    if (hasValue) {
      journal.subBalance(caller, request.value);
      journal.addBalance(target, request.value);
    } else {
      touch(session, target);
    }
  } else if (opcode === STATICCALL && flags & flag.exists) {
    touch(session, target);
  }

  if (flags & flag.precompile) return runPrecompile(session, target, snapshot);
  const codeAccount = memory.get32(request.codeAccount);
  if (memory.get32(codeAccount + record.codeSize) === 0) {
    return endAtOnce(session, EMPTY_SUCCESS, memory.get64(request.gas));
  }

  pushFrame(session, snapshot);
  memory.set32(frame.input, memory.get32(request.input));
  memory.set32(frame.inputSize, memory.get32(request.inputSize));
  copyWord(session, request.value, frame.value);
  if (opcode !== DELEGATECALL) copyWord(session, caller + record.key, frame.caller);
  if (opcode === CALL || opcode === STATICCALL) memory.set32(frame.account, target);
  if (opcode === STATICCALL) memory.set32(frame.isStatic, 1);
  useCachedCode(session, memory.get32(codeAccount + record.codeId));
}

/** The caller gets the gas back. */
function refuse(session: Session, kind: "callDepth" | "insufficientBalance"): void {
  endAtOnce(session, halted({ kind }), session.memory.get64(request.gas));
}

function touch(session: Session, account: number): void {
  session.journal.mark(account, flag.touched);
  if (session.records.addressOf(account) === RIPEMD160) session.touchedRipemd = true;
}

function runPrecompile(session: Session, target: number, snapshot: number): void {
  const { memory, journal, precompiles, records } = session;
  const contract = precompiles.get(records.addressOf(target))!;
  const begin = memory.get32(request.input);
  const input = memory.bytes.slice(begin, begin + memory.get32(request.inputSize));
  const gas = memory.get64(request.gas);
  const cost = contract.gas(input);
  const output = cost > gas ? undefined : contract.run(input);
  if (output instanceof Uint8Array) {
    endAtOnce(session, { ...EMPTY_SUCCESS, ...place(session, output) }, gas - cost);
    return;
  }
  journal.revert(snapshot);
  endAtOnce(session, halted(haltOfPrecompile(output)), 0n);
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

import { i32, i64, type Local, type Operand, v128 } from "../../../../base/wasm/code.ts";
import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import { exit, haltCode, unusableOperand } from "../../halts.ts";
import { frame, globals, request, WORD } from "../../memory/layout.ts";
import { NO_DEPTH_MIN, NO_OPERAND_MAX, NO_PAIR_MIN } from "../../opcodes.ts";
import type { Loop } from "../loop.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { copyWord, isZeroWord, reverseBytes, storeSmall, storeZero, ZERO_HALF } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";
import { jumpAfterPush2, jumpToWord } from "./jumps.ts";

/** Each half of the word is up to 16 bytes of the immediate reversed; the bytes after code are readable. */
const push: Emitter = (loop, { code }) => {
  const { f, pc, sp } = loop;
  const size = code - 0x5f;
  if (size === 2) jumpAfterPush2(loop);
  loop.grow();
  if (size === 0) {
    storeZero(f, sp);
    loop.next();
    return;
  }
  const highSize = Math.max(0, size - 16);
  const high = highSize === 0 ? ZERO_HALF : reverseBytes(v128.load(pc, 1), highSize);
  const low = reverseBytes(v128.load(pc, 1 + highSize), size - highSize);
  f.do(v128.store(sp, low), v128.store(sp, high, 16));
  loop.next(size + 1);
};

const dup: Emitter = (loop, { pops }) => {
  loop.grow();
  copyWord(loop.f, loop.sp, loop.sp, 0, pops * WORD);
  loop.next();
};

const swap: Emitter = (loop, { pops }) => {
  const { f, sp } = loop;
  const deep = (pops - 1) * WORD;
  for (const half of [0, 16]) {
    const top = f.v128(v128.load(sp, half));
    f.do(v128.store(sp, v128.load(sp, deep + half), half));
    f.do(v128.store(sp, top, deep + half));
  }
  loop.next();
};

const pop: Emitter = (loop) => {
  loop.drop(1);
  loop.next();
};

/** The byte after the opcode (EIP-8024); halts where it names no operands. */
function operandByte(loop: Loop, code: number, invalidMin: number): Local {
  const { f, pc } = loop;
  const byte = f.i32(i32.load8(pc, 1));
  f.if(i32.and(i32.geU(byte, invalidMin), i32.leU(byte, NO_OPERAND_MAX)), () => {
    f.do(i32.store(globals.haltDetail, i32.or(i32.shl(byte, 8), unusableOperand(code, 0))));
    loop.halt(haltCode.invalidOpcode);
  });
  return byte;
}

/** A fast build has checked the stack for the whole segment, with the depth that the byte names. */
function haltUnlessWords(loop: Loop, words: Local): void {
  if (loop.build === "fast") return;
  const { f, sp } = loop;
  const height = f.i32(i32.shrU(i32.sub(i32.load(frame.stackBase), sp), 5));
  f.if(i32.ltU(height, words), () => {
    f.do(i32.store(globals.haltDetail, i32.or(i32.shl(height, 16), words)));
    loop.halt(haltCode.stackUnderflow);
  });
}

function exchangeWords(loop: Loop, a: Operand, b: Operand): void {
  const { f } = loop;
  for (const half of [0, 16]) {
    const first = f.v128(v128.load(a, half));
    f.do(v128.store(a, v128.load(b, half), half));
    f.do(v128.store(b, first, half));
  }
}

/** The depth in words of the operand of DUPN and SWAPN: 17 to 235 */
const depthOf = (byte: Local): Operand => i32.and(i32.add(byte, 145), 255);

const dupn: Emitter = (loop, { code }) => {
  const { f, sp } = loop;
  const depth = f.i32(depthOf(operandByte(loop, code, NO_DEPTH_MIN)));
  haltUnlessWords(loop, depth);
  const source = f.i32(i32.add(sp, i32.shl(i32.sub(depth, 1), 5)));
  loop.grow();
  copyWord(f, sp, source);
  loop.next(2);
};

const swapn: Emitter = (loop, { code }) => {
  const { f, sp } = loop;
  const depth = f.i32(depthOf(operandByte(loop, code, NO_DEPTH_MIN)));
  haltUnlessWords(loop, f.i32(i32.add(depth, 1)));
  exchangeWords(loop, sp, f.i32(i32.add(sp, i32.shl(depth, 5))));
  loop.next(2);
};

/** Row and column of the byte's cell in a table of 16 by 16, two triangles of which name pairs (EIP-8024, `decode_pair`). */
const exchange: Emitter = (loop, { code }) => {
  const { f, sp } = loop;
  const cell = f.i32(i32.xor(operandByte(loop, code, NO_PAIR_MIN), 143));
  const row = f.i32(i32.shrU(cell, 4));
  const column = f.i32(i32.and(cell, 15));
  const isUpper = f.i32(i32.ltU(row, column));
  const first = f.i32(i32.add(i32.select(isUpper, row, column), 1));
  const second = f.i32(i32.select(isUpper, i32.add(column, 1), i32.sub(29, row)));
  haltUnlessWords(loop, f.i32(i32.add(i32.select(i32.ltU(first, second), second, first), 1)));
  exchangeWords(loop, f.i32(i32.add(sp, i32.shl(first, 5))), f.i32(i32.add(sp, i32.shl(second, 5))));
  loop.next(2);
};

export const STACK: Emitters = {
  PUSH: push,
  DUP: dup,
  SWAP: swap,
  POP: pop,
  DUPN: dupn,
  SWAPN: swapn,
  EXCHANGE: exchange,
};

const jump: Emitter = (loop) => {
  jumpToWord(loop, 0);
  loop.drop(1);
  loop.f.br(loop.enter);
};

const jumpi: Emitter = (loop) => {
  const { f, sp, pc } = loop;
  f.if(
    isZeroWord(sp, WORD),
    () => f.set(pc, i32.add(pc, 1)),
    () => jumpToWord(loop, 0),
  );
  loop.drop(2);
  f.br(loop.enter);
};

/** Reached from the opcode before it: its segment is still to be charged. */
const jumpdest: Emitter = (loop) => {
  if (loop.build !== "fast") loop.next();
  else loop.f.br(loop.enter);
};

const pc: Emitter = (loop) => {
  loop.grow();
  const offset = i32.sub(loop.pc, i32.load(frame.code));
  storeSmall(loop.f, loop.sp, i64.extendU(offset));
  loop.next();
};

/** The last of its segment, so that the counter is exact. */
const gas: Emitter = (loop) => {
  loop.grow();
  storeSmall(loop.f, loop.sp, i64.add(loop.gas, i64.load(globals.reserve)));
  loop.nextSegment();
};

function end(status: number): Emitter {
  return (loop) => {
    const { f, sp } = loop;
    loop.expandTo(loop.operand(0), loop.operand(1));
    loop.charged();
    f.do(
      i32.store(globals.output, i32.add(loop.memory, i32.load(sp))),
      i32.store(globals.outputSize, i32.load(sp, WORD)),
    );
    loop.exit(status);
  };
}

const stop: Emitter = (loop) => {
  loop.f.do(i32.store(globals.outputSize, 0));
  loop.exit(exit.stop);
};

export const CONTROL: Emitters = {
  STOP: stop,
  JUMP: jump,
  JUMPI: jumpi,
  JUMPDEST: jumpdest,
  PC: pc,
  GAS: gas,
  RETURN: end(exit.return),
  REVERT: end(exit.revert),
};

/**
 * CALL and CREATE leave the loop: the driver runs the other frame and comes back with the result at `sp`, where the last
 * operand was, and with `pc` after the opcode.
 */
function leaveWith(status: number, pick: (runtime: Runtime) => FunctionRef): Emitter {
  return (loop, { code, pops }) => {
    const { f, runtime, pc } = loop;
    loop.setGas(call(pick(runtime), loop.gas, loop.sp));
    loop.charged();
    // From Amsterdam on the new account is paid before the gas is divided, once the driver knows its address.
    if (status === exit.create && !runtime.rules.eip8037) f.set(loop.gas, call(runtime.calls.takeChildGas, loop.gas));
    f.do(i32.store(request.opcode, code));
    loop.drop(pops - 1);
    f.set(pc, i32.add(pc, 1));
    loop.exit(status);
  };
}

const selfdestruct: Emitter = (loop) => {
  loop.setGas(call(loop.runtime.calls.selfdestruct, loop.gas, loop.sp));
  loop.charged();
  loop.f.do(i32.store(globals.outputSize, 0));
  loop.exit(exit.selfDestruct);
};

export const SYSTEM: Emitters = {
  CALL: leaveWith(exit.call, (runtime) => runtime.calls.call),
  CALLCODE: leaveWith(exit.call, (runtime) => runtime.calls.callcode),
  DELEGATECALL: leaveWith(exit.call, (runtime) => runtime.calls.delegatecall),
  STATICCALL: leaveWith(exit.call, (runtime) => runtime.calls.staticcall),
  CREATE: leaveWith(exit.create, (runtime) => runtime.calls.create),
  CREATE2: leaveWith(exit.create, (runtime) => runtime.calls.create2),
  SELFDESTRUCT: selfdestruct,
};

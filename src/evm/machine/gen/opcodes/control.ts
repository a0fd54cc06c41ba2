import { i32, i64, v128 } from "../../../../base/wasm/code.ts";
import { call, type FunctionRef } from "../../../../base/wasm/function.ts";
import { exit } from "../../halts.ts";
import { frame, globals, request, WORD } from "../../memory/layout.ts";
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

export const STACK: Emitters = { PUSH: push, DUP: dup, SWAP: swap, POP: pop };

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
    if (status === exit.create) f.set(loop.gas, call(runtime.calls.takeChildGas, loop.gas));
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

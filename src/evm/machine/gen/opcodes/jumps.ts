import { i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import { haltCode } from "../../halts.ts";
import { frame } from "../../memory/layout.ts";
import type { Loop } from "../loop.ts";
import { isSmall, limb } from "../words.ts";

const JUMP = 0x56;
const JUMPI = 0x57;
const PUSH2 = 0x61;

/** Sets `pc` to the destination in the word at `sp + offset`, whose segment must begin with a JUMPDEST (Yellow Paper 9.4.3). */
export function jumpToWord(loop: Loop, offset: number): void {
  const { f, sp } = loop;
  f.if(i32.eqz(isSmall(sp, offset)), () => loop.halt(haltCode.invalidJump));
  const destination = f.i64(limb(sp, 0, offset));
  f.if(i64.geU(destination, i64.load32(frame.codeSize)), () => loop.halt(haltCode.invalidJump));
  setDestination(loop, i32.wrap(destination));
}

/** As above for a destination that stands in code and may lie behind its end. */
function jumpToOffset(loop: Loop, destination: Operand): void {
  const { f } = loop;
  const offset = f.i32(destination);
  f.if(i32.geU(offset, i32.load(frame.codeSize)), () => loop.halt(haltCode.invalidJump));
  setDestination(loop, offset);
}

function setDestination(loop: Loop, offset: Operand): void {
  const { f, pc } = loop;
  f.set(pc, i32.add(i32.load(frame.code), offset));
  // The top bit of a segment's gas marks a JUMPDEST.
  const mark = i32.load(i32.add(i32.shl(pc, 3), i32.load(frame.segments)));
  f.if(i32.eqz(i32.ltS(mark, 0)), () => loop.halt(haltCode.invalidJump));
}

/** The number of two bytes at `address + offset`, the first byte high. */
function twoBytes(address: Operand, offset: number): Operand {
  return i32.or(i32.shl(i32.load8(address, offset), 8), i32.load8(address, offset + 1));
}

/**
 * Compilers emit jumps as PUSH2 and JUMP or JUMPI, and most PUSH2 precede a jump. Such a pair runs here, which saves pushing
 * the destination and one turn of the loop. Gas and stack of both are already checked, since a segment ends after a jump.
 * Builds that charge each opcode separately do not use this.
 */
export function jumpAfterPush2(loop: Loop): void {
  if (loop.build !== "fast") return;
  const { f, pc } = loop;
  const following = f.i32(i32.load8(pc, 3));
  f.if(i32.eq(following, JUMP), () => {
    jumpToOffset(loop, twoBytes(pc, 1));
    f.br(loop.enter);
  });
  f.if(i32.eq(following, JUMPI), () => {
    const condition = isNonZero(loop);
    loop.drop(1);
    jumpIf(loop, condition, pc);
  });
}

function isNonZero({ f, sp }: Loop): Local {
  return f.i32(i64.ne(i64.or(i64.or(limb(sp, 0), limb(sp, 1)), i64.or(limb(sp, 2), limb(sp, 3))), 0n));
}

/** PUSH2 at `push` and the JUMPI after it. */
function jumpIf(loop: Loop, condition: Operand, push: Operand): void {
  const { f, pc } = loop;
  f.if(
    condition,
    () => jumpToOffset(loop, twoBytes(push, 1)),
    () => f.set(pc, i32.add(push, 4)),
  );
  f.br(loop.enter);
}

/**
 * Continues after an opcode whose result `answer` is 0 or 1 if PUSH2 and JUMPI follow at `next`. `dropped` is the number of
 * operands by which the opcode shrinks the stack.
 */
export function jumpOnAnswer(loop: Loop, answer: Operand, next: Operand, dropped: number): void {
  if (loop.build !== "fast") return;
  const { f } = loop;
  const opcodes = i32.and(i32.load(next), 0xff0000ff);
  f.if(i32.eq(opcodes, (JUMPI << 24) | PUSH2), () => {
    loop.drop(dropped);
    jumpIf(loop, answer, next);
  });
}

import { i32, i64 } from "../../../wasm/code.ts";
import { exit } from "../../halts.ts";
import { frame, globals, WORD } from "../../memory/layout.ts";
import { isZeroWord, storeSmall } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";
import { jumpToWord } from "./jumps.ts";

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

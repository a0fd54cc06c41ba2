import { COPY_WORD_GAS, KECCAK_WORD_GAS } from "../../../../base/params/gas.ts";
import { i32, i64, memory as linearMemory } from "../../../../base/wasm/code.ts";
import { call } from "../../../../base/wasm/function.ts";
import { haltCode } from "../../halts.ts";
import { frame, WORD } from "../../memory/layout.ts";
import type { Loop } from "../loop.ts";
import { bytesFromWord, isSmall, limb, orAll, storeSmall, wordFromBytes } from "../words.ts";
import type { Emitter, Emitters } from "./emitter.ts";

/**
 * Makes sure that `size` bytes at the offset on top of the stack are memory, and answers their linear address. The usual
 * case, memory that is there already, costs two comparisons.
 */
function memoryAt(loop: Loop, size: number) {
  const { f, sp, runtime } = loop;
  const offset = f.i64(limb(sp, 0));
  const beyond = orAll([i64.shrU(offset, 32n), limb(sp, 1), limb(sp, 2), limb(sp, 3)]);
  const end = i64.add(offset, BigInt(size));
  f.if(i32.or(i64.ne(beyond, 0n), i64.gtU(end, loop.memorySize)), () => {
    // Rounded up to words it must fit 64 bits.
    const fits = i32.and(isSmall(sp), i64.leU(offset, BigInt(-WORD - size)));
    loop.setGas(call(runtime.gas.expand, loop.gas, i64.select(fits, i64.add(offset, BigInt(size)), -1n)));
    loop.reloadMemorySize();
  });
  loop.charged();
  return f.i32(i32.add(loop.memory, i32.wrap(offset)));
}

const mload: Emitter = (loop) => {
  const address = memoryAt(loop, 32);
  wordFromBytes(loop.f, loop.sp, address);
  loop.next();
};

const mstore: Emitter = (loop) => {
  const address = memoryAt(loop, 32);
  bytesFromWord(loop.f, address, loop.sp, WORD);
  loop.drop(2);
  loop.next();
};

const mstore8: Emitter = (loop) => {
  const address = memoryAt(loop, 1);
  loop.f.do(i64.store8(address, limb(loop.sp, 0, WORD)));
  loop.drop(2);
  loop.next();
};

const msize: Emitter = (loop) => {
  loop.grow();
  storeSmall(loop.f, loop.sp, loop.memorySize);
  loop.next();
};

/** The linear address of the memory at offset operand `n`. */
function addressOf(loop: Loop, n: number) {
  return i32.add(loop.memory, i32.load(loop.sp, n * WORD));
}

/** CALLDATACOPY, CODECOPY: target, source offset, size; zeros past the source. */
function copyFrom(source: number, sourceSize: number): Emitter {
  return (loop) => {
    const { f, runtime } = loop;
    const { copyGas, copyPadded } = runtime.copies;
    loop.setGas(call(copyGas, loop.gas, loop.operand(0), loop.operand(2)));
    loop.reloadMemorySize();
    loop.charged();
    const size = f.i32(i32.load(loop.sp, 2 * WORD));
    f.if(size, () =>
      f.do(call(copyPadded, addressOf(loop, 0), i32.load(source), i32.load(sourceSize), loop.operand(1), size)),
    );
    loop.drop(3);
    loop.next();
  };
}

/** EIP-211: reading past the return data halts, also for no byte at all. */
const returndatacopy: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  loop.setGas(call(runtime.copies.copyGas, loop.gas, loop.operand(0), loop.operand(2)));
  loop.reloadMemorySize();
  loop.charged();
  const have = i64.load32(frame.returnDataSize);
  const size = limb(sp, 0, 2 * WORD);
  const inside = i32.and(
    i32.and(isSmall(sp, WORD), isSmall(sp, 2 * WORD)),
    i32.and(i64.leU(limb(sp, 0, WORD), have), i64.leU(size, i64.sub(have, limb(sp, 0, WORD)))),
  );
  loop.haltIf(i32.eqz(inside), haltCode.returnDataOutOfBounds);
  const from = i32.add(i32.load(frame.returnData), i32.load(sp, WORD));
  f.if(i32.wrap(size), () => f.do(linearMemory.copy(addressOf(loop, 0), from, i32.wrap(size))));
  loop.drop(3);
  loop.nextSegment();
};

const mcopy: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  const { gas } = runtime;
  const target = call(gas.rangeEnd, loop.operand(0), loop.operand(2));
  const source = call(gas.rangeEnd, loop.operand(1), loop.operand(2));
  const end = f.i64(target);
  const sourceEnd = f.i64(source);
  f.set(end, i64.select(i64.ltU(end, sourceEnd), sourceEnd, end));
  loop.setGas(call(gas.expand, loop.gas, end));
  loop.reloadMemorySize();
  const words = i64.shrU(i64.add(limb(sp, 0, 2 * WORD), 31n), 5n);
  loop.charge(i64.mul(words, COPY_WORD_GAS));
  loop.charged();
  const size = i32.load(sp, 2 * WORD);
  f.if(size, () => f.do(linearMemory.copy(addressOf(loop, 0), addressOf(loop, 1), size)));
  loop.drop(3);
  loop.next();
};

const keccak256: Emitter = (loop) => {
  const { f, sp, runtime } = loop;
  loop.expandTo(loop.operand(0), loop.operand(1));
  const words = i64.shrU(i64.add(limb(sp, 0, WORD), 31n), 5n);
  loop.charge(i64.mul(words, KECCAK_WORD_GAS));
  loop.charged();
  const bytes = addressOf(loop, 0);
  const size = f.i32(i32.load(sp, WORD));
  f.if(
    i32.eq(size, 2 * WORD),
    () => f.do(call(runtime.keccakOfPair, bytes, i32.add(sp, WORD))),
    () => f.do(call(runtime.keccak, bytes, size, i32.add(sp, WORD))),
  );
  loop.drop(1);
  loop.next();
};

export const MEMORY: Emitters = {
  MLOAD: mload,
  MSTORE: mstore,
  MSTORE8: mstore8,
  MSIZE: msize,
  CALLDATACOPY: copyFrom(frame.input, frame.inputSize),
  CODECOPY: copyFrom(frame.code, frame.codeSize),
  RETURNDATACOPY: returndatacopy,
  MCOPY: mcopy,
  KECCAK256: keccak256,
};

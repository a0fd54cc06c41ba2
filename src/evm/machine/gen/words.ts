import { type Code, i32, i64, type Local, type Operand, v128 } from "../../../base/wasm/code.ts";
import type { FunctionBuilder } from "../../../base/wasm/function.ts";
import { REVERSED_LANES, ZEROS } from "../memory/layout.ts";

/** The four 64-bit limbs of a word, lowest first. */
type Limbs = readonly [Local, Local, Local, Local];

/** Sixteen bytes of 0; not a constant for the reason below. */
export const ZERO_HALF = v128.load(ZEROS);

/**
 * The first `count` of 16 bytes in reverse, followed by zeros. The order comes from linear memory, since V8 moves a
 * vector constant out of the interpreter's loop, and then to the machine stack and back.
 */
export function reverseBytes(bytes: Operand, count = 16): Code {
  return v128.swizzle(bytes, v128.load(REVERSED_LANES + 16 - count));
}

/** Limb `i` of the word at `address + offset`. */
export function limb(address: Operand, i: number, offset = 0): Code {
  return i64.load(address, offset + 8 * i);
}

/** The word at `address + offset` in four variables. */
export function loadWord(f: FunctionBuilder, address: Operand, offset = 0): Limbs {
  return [0, 1, 2, 3].map((i) => f.i64(limb(address, i, offset))) as unknown as Limbs;
}

export function storeWord(f: FunctionBuilder, address: Operand, limbs: readonly Operand[], offset = 0): void {
  limbs.forEach((value, i) => {
    f.do(i64.store(address, value, offset + 8 * i));
  });
}

/** Writes a number of at most 64 bits as a word. */
export function storeSmall(f: FunctionBuilder, address: Operand, value: Operand, offset = 0): void {
  f.do(i64.store(address, value, offset));
  f.do(i64.store(address, 0n, offset + 8));
  f.do(v128.store(address, ZERO_HALF, offset + 16));
}

export function storeZero(f: FunctionBuilder, address: Operand, offset = 0): void {
  f.do(v128.store(address, ZERO_HALF, offset));
  f.do(v128.store(address, ZERO_HALF, offset + 16));
}

export function copyWord(f: FunctionBuilder, to: Operand, from: Operand, toOffset = 0, fromOffset = 0): void {
  f.do(v128.store(to, v128.load(from, fromOffset), toOffset));
  f.do(v128.store(to, v128.load(from, fromOffset + 16), toOffset + 16));
}

/** Stores the 32 big-endian bytes at `from` as a word at `to`. */
export function wordFromBytes(f: FunctionBuilder, to: Operand, from: Operand, toOffset = 0): void {
  f.scope(() => {
    const high = f.v128(v128.load(from));
    f.do(v128.store(to, reverseBytes(v128.load(from, 16)), toOffset));
    f.do(v128.store(to, reverseBytes(high), toOffset + 16));
  });
}

/** Stores the word at `from` as 32 big-endian bytes at `to`. */
export function bytesFromWord(f: FunctionBuilder, to: Operand, from: Operand, fromOffset = 0): void {
  f.scope(() => {
    const low = f.v128(v128.load(from, fromOffset));
    f.do(v128.store(to, reverseBytes(v128.load(from, fromOffset + 16))));
    f.do(v128.store(to, reverseBytes(low), 16));
  });
}

/** Non-zero unless all of `values` are 0: their bits together. */
export function orAll(values: readonly Operand[]): Code {
  return values.slice(1).reduce<Code>((sum, value) => i64.or(sum, value), i64.of(values[0]!));
}

/** 1 when limbs 1 to 3 of the word are 0: it fits 64 bits. */
export function isSmall(address: Operand, offset = 0): Code {
  return i64.eqz(orAll([1, 2, 3].map((i) => limb(address, i, offset))));
}

export function isZeroWord(address: Operand, offset = 0): Code {
  return i64.eqz(orAll([0, 1, 2, 3].map((i) => limb(address, i, offset))));
}

export function equalWords(a: Operand, b: Operand, aOffset = 0, bOffset = 0): Code {
  const differing = (half: number) => v128.xor(v128.load(a, aOffset + half), v128.load(b, bOffset + half));
  return i32.eqz(v128.anyTrue(v128.or(differing(0), differing(16))));
}

const HALF_MASK = 0xffffffffn;

/** The high half of the 128-bit product x·y, from four products of 32 bits. */
export function multiplyHigh(f: FunctionBuilder, x: Operand, y: Operand): Code {
  const [xLow, xHigh] = halvesOf(f, x);
  const [yLow, yHigh] = halvesOf(f, y);
  const middle = f.i64(i64.add(i64.mul(xHigh, yLow), i64.shrU(i64.mul(xLow, yLow), 32n)));
  return i64.add(
    i64.add(i64.mul(xHigh, yHigh), i64.shrU(middle, 32n)),
    i64.shrU(i64.add(i64.mul(xLow, yHigh), i64.and(middle, HALF_MASK)), 32n),
  );
}

/** The low and the high 32 bits. */
function halvesOf(f: FunctionBuilder, x: Operand): readonly [Operand, Operand] {
  if (typeof x === "bigint") return [x & HALF_MASK, x >> 32n];
  return [f.i64(i64.and(x, HALF_MASK)), f.i64(i64.shrU(x, 32n))];
}

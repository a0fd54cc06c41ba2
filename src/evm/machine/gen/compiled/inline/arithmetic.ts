import { i32, i64, type Local, type Operand } from "../../../../../base/wasm/code.ts";
import { call, type FunctionRef } from "../../../../../base/wasm/function.ts";
import { WORD } from "../../../memory/layout.ts";
import { product } from "../../runtime/long-arithmetic.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { knownDivisor } from "../../runtime/short-division.ts";
import type { FourLimbs } from "../limbs.ts";
import { anyBits, folded, isKnownSmall, knownValue } from "../limbs.ts";
import { shiftLeft, shiftRight } from "./bitwise.ts";
import type { PathState } from "./operands.ts";
import { binary, hold, type Inline } from "./operands.ts";

function sum(path: PathState, a: FourLimbs, b: FourLimbs): Operand[] {
  const { f } = path.part;
  const limbs: Operand[] = [];
  let carry: Operand = 0n;
  for (let i = 0; i < 4; i++) {
    const [x, y] = typeof a[i] === "bigint" ? [b[i]!, a[i]!] : [a[i]!, b[i]!];
    if (typeof x === "bigint" && typeof y === "bigint" && typeof carry === "bigint") {
      const total: bigint = x + y + carry;
      limbs.push(BigInt.asUintN(64, total));
      carry = total >> 64n;
      continue;
    }
    if (carry === 0n || y === 0n) {
      const added: Operand = carry === 0n ? y : carry;
      const total: Operand = hold(path, added === 0n ? x : i64.add(x, added));
      limbs.push(total);
      if (i < 3) carry = added === 0n ? 0n : f.i64(i64.extendU(i64.ltU(total, added)));
      continue;
    }
    const partial = f.i64(i64.add(x, y));
    const total = hold(path, i64.add(partial, carry));
    limbs.push(total);
    const overflow = i32.or(i64.ltU(partial, y), i64.ltU(total, partial));
    if (i < 3) carry = f.i64(i64.extendU(overflow));
  }
  return limbs;
}

function difference(path: PathState, a: FourLimbs, b: FourLimbs): Operand[] {
  const { f } = path.part;
  const limbs: Operand[] = [];
  let borrow: Operand = 0n;
  for (let i = 0; i < 4; i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (typeof x === "bigint" && typeof y === "bigint" && typeof borrow === "bigint") {
      const total: bigint = x - y - borrow;
      limbs.push(BigInt.asUintN(64, total));
      borrow = total < 0n ? 1n : 0n;
      continue;
    }
    if (borrow === 0n || y === 0n) {
      const taken: Operand = borrow === 0n ? y : borrow;
      limbs.push(hold(path, taken === 0n ? x : i64.sub(x, taken)));
      if (i < 3) borrow = taken === 0n ? 0n : f.i64(i64.extendU(i64.ltU(x, taken)));
      continue;
    }
    const partial = f.i64(i64.sub(x, y));
    limbs.push(hold(path, i64.sub(partial, borrow)));
    const underflow = i32.or(i64.ltU(x, y), i64.ltU(partial, borrow));
    if (i < 3) borrow = f.i64(i64.extendU(underflow));
  }
  return limbs;
}

/** The exponent of a known power of two. */
function exponentOf(limbs: FourLimbs): number | undefined {
  const value = knownValue(limbs);
  if (value === undefined || value === 0n || (value & (value - 1n)) !== 0n) return undefined;
  return value.toString(2).length - 1;
}

const mul: Inline = binary((path, a, b) => {
  for (const [x, y] of [
    [a, b],
    [b, a],
  ] as const) {
    const exponent = exponentOf(x);
    if (exponent !== undefined) return shiftLeft(y, exponent);
    if (knownValue(x) === 0n) return x;
    if (knownValue(x) !== undefined) return product(path.part.f, y, x);
  }
  const high = call(path.part.functions.multiplyHigh, a[0], b[0]);
  if (isKnownSmall(a) && isKnownSmall(b)) {
    return [hold(path, i64.mul(a[0], b[0])), hold(path, high), 0n, 0n];
  }
  const result = allocateWord(path);
  ifSmall(
    path,
    a,
    b,
    () => setWord(path, result, [i64.mul(a[0], b[0]), high, 0n, 0n]),
    () => path.part.f.setAll(result, call(path.part.functions.multiply, ...a, ...b)),
  );
  return result;
});

/** DIV, MOD and their signed forms, which are the same for operands below 2^63. */
function division(
  short: (a: Operand, b: Operand) => Operand,
  long: (runtime: Runtime) => FunctionRef,
  isSigned: boolean,
  unsigned?: {
    readonly byPowerOfTwo: (a: FourLimbs, exponent: number) => Operand[];
    readonly result: "quotient" | "remainder";
  },
): Inline {
  return binary((path, a, b) => {
    const { f, runtime } = path.part;
    const exponent = exponentOf(b);
    if (unsigned && exponent !== undefined) return unsigned.byPowerOfTwo(a, exponent);
    const result = allocateWord(path);
    const divisor = knownValue(b);
    const byKnown =
      unsigned && divisor !== undefined && divisor !== 0n && divisor >> 128n === 0n
        ? () => divideByKnown(path, a, divisor, unsigned.result, result)
        : undefined;
    ifSmall(
      path,
      a,
      b,
      () => {
        setWord(path, result, [0n, 0n, 0n, 0n]);
        f.if(i64.ne(b[0], 0n), () => f.set(result[0], short(a[0], b[0])));
      },
      byKnown ?? (() => onStack(path, a, b, result, (sp) => call(long(runtime), sp))),
      isSigned,
    );
    return result;
  });
}

/** By 1 to 2^128 − 1, with the reciprocal computed here. */
function divideByKnown(
  { part: { f, functions } }: PathState,
  a: FourLimbs,
  divisor: bigint,
  which: "quotient" | "remainder",
  result: WordVariables,
): void {
  const { isPair, operands } = knownDivisor(divisor);
  const division = functions.division(`${which}By${isPair ? "Pair" : "Limb"}`);
  const count = division.results.length;
  f.setAll(result.slice(0, count), call(division, ...a, ...operands));
  for (const limb of result.slice(count)) f.set(limb, 0n);
}

type WordVariables = readonly [Local, Local, Local, Local];

function allocateWord({ part: { f } }: PathState): WordVariables {
  return [0, 1, 2, 3].map(() => f.allocate("i64")) as unknown as WordVariables;
}

function setWord({ part: { f } }: PathState, target: WordVariables, limbs: readonly Operand[]): void {
  target.forEach((local, i) => {
    f.set(local, limbs[i]!);
  });
}

/** Emits `short` for operands of at most 64 bits, 63 for signed ones, and `long` for others. */
function ifSmall(
  { part: { f }, stack }: PathState,
  a: FourLimbs,
  b: FourLimbs,
  short: () => void,
  long: () => void,
  isSigned = false,
): void {
  const high = anyBits([...a.slice(1), ...b.slice(1)]);
  const bits = isSigned ? folded.or(high, folded.shrU(folded.or(a[0], b[0]), 63)) : high;
  stack.clearAbove(2);
  if (bits === 0n) short();
  else if (typeof bits === "bigint") long();
  else f.if(i64.eqz(bits), short, long);
}

/** Has a function of the runtime work on the two operands in linear memory, where it leaves the result under the first. */
function onStack(
  { part: { f }, stack }: PathState,
  a: FourLimbs,
  b: FourLimbs,
  result: WordVariables,
  compute: (sp: Local) => (out: number[]) => void,
): void {
  const sp = f.i32(stack.writeAbove(a, b));
  f.do(compute(sp));
  result.forEach((local, i) => {
    f.set(local, i64.load(sp, WORD + 8 * i));
  });
}

const modByPowerOfTwo = (a: FourLimbs, exponent: number): Operand[] =>
  a.map((limb, i) => {
    const bits = Math.min(64, Math.max(0, exponent - 64 * i));
    return folded.and(limb, (1n << BigInt(bits)) - 1n);
  });

/** SIGNEXTEND by a known number of bytes. */
const signextend: Inline = (path) => {
  const { stack } = path;
  const bytes = knownValue(stack.peek().limbs);
  if (bytes === undefined) return false;
  stack.drop();
  if (bytes >= 31n) return true;
  const bit = Number(bytes) * 8 + 7;
  const at = bit >> 6;
  const unused = BigInt(63 - (bit & 63));
  const word = stack.pop();
  const limbs = stack.limbs(word);
  const extended = hold(path, i64.shrS(i64.shl(limbs[at]!, unused), unused));
  const sign = at < 3 ? hold(path, i64.shrS(extended, 63n)) : 0n;
  stack.push(limbs.map((limb, i) => (i < at ? limb : i === at ? extended : sign)));
  stack.release(word);
  return true;
};

export const ARITHMETIC: Readonly<Record<string, Inline>> = {
  ADD: binary(sum),
  SUB: binary(difference),
  MUL: mul,
  DIV: division(i64.divU, (runtime) => runtime.long.div, false, { byPowerOfTwo: shiftRight, result: "quotient" }),
  MOD: division(i64.remU, (runtime) => runtime.long.mod, false, { byPowerOfTwo: modByPowerOfTwo, result: "remainder" }),
  SDIV: division(i64.divU, (runtime) => runtime.long.sdiv, true),
  SMOD: division(i64.remU, (runtime) => runtime.long.smod, true),
  SIGNEXTEND: signextend,
};

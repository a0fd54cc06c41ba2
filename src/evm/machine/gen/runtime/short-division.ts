import { type Code, i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import type { FunctionBuilder, FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { multiplyHigh } from "../words.ts";

/**
 * Division of a word by one or two limbs with all of it in variables, and without jumps that depend on the digits: most divisors of
 * contracts are that short, and what the general division does in linear memory takes longer than the arithmetic.
 */
export type ShortDivision = "quotientByLimb" | "remainderByLimb" | "quotientByPair" | "remainderByPair";

/**
 * Takes the four limbs of the numerator, lowest first; the divisor shifted left until its top bit is set, the higher of two limbs
 * first; the number of shifted bits; and its reciprocal (`reciprocalOf`). Results are limbs, lowest first: a quotient by one limb has
 * four, a quotient by two limbs three, since the fourth is 0; a remainder has as many as the divisor.
 */
export function defineShortDivision(module: ModuleBuilder, which: ShortDivision): FunctionRef {
  const isQuotient = which.startsWith("quotient");
  const limbs = (count: number) => Array.from({ length: count }, () => "i64" as const);
  if (which.endsWith("Limb")) {
    return module.define(limbs(7), limbs(isQuotient ? 4 : 1), (f, a0, a1, a2, a3, divisor, shift, reciprocal) => {
      const digits = normalise(f, [a0!, a1!, a2!, a3!], shift!);
      const { quotient, rest } = divideByLimb(f, digits, divisor!, reciprocal!);
      f.return(...(isQuotient ? quotient.map((q) => i64.of(q)) : [i64.shrU(rest, shift!)]));
    });
  }
  return module.define(limbs(8), limbs(isQuotient ? 3 : 2), (f, a0, a1, a2, a3, high, low, shift, reciprocal) => {
    const digits = normalise(f, [a0!, a1!, a2!, a3!], shift!);
    const { quotient, rest } = divideByPair(f, digits, { high: high!, low: low! }, reciprocal!);
    if (isQuotient) f.return(...quotient.map((q) => i64.of(q)));
    else f.return(i64.or(i64.shrU(rest.low, shift!), above(rest.high, shift!)), i64.shrU(rest.high, shift!));
  });
}

/** What the functions above take of a divisor that is known when the code is emitted: from 1 to 2^128 − 1. */
export function knownDivisor(divisor: bigint): { readonly isPair: boolean; readonly operands: readonly bigint[] } {
  const isPair = divisor >> 64n !== 0n;
  const shift = (isPair ? 128 : 64) - divisor.toString(2).length;
  const shifted = divisor << BigInt(shift);
  const limbs = isPair ? [shifted >> 64n, BigInt.asUintN(64, shifted)] : [shifted];
  return { isPair, operands: [...limbs, BigInt(shift), reciprocalOf(limbs)] };
}

/** ⌊(2^192 − 1) / (high·2^64 + low)⌋ − 2^64, with low = 0 if none. */
function reciprocalOf([high, low = 0n]: readonly bigint[]): bigint {
  return ((1n << 192n) - 1n) / ((high! << 64n) | low) - (1n << 64n);
}

/** What shifting `limb` right by `shift` moves to the limb below. */
function above(limb: Operand, shift: Local): Code {
  return i64.shl(i64.shl(limb, 1n), i64.sub(63n, shift));
}

/** What shifting `limb` left by `shift` moves to the limb above. */
function below(limb: Operand, shift: Local): Code {
  return i64.shrU(i64.shrU(limb, 1n), i64.sub(63n, shift));
}

/** The limbs shifted left, with one additional limb, lowest first. */
function normalise(f: FunctionBuilder, limbs: readonly Local[], shift: Local): Local[] {
  const shifted = limbs.map((limb, i) => {
    const value = i64.shl(limb, shift);
    return f.i64(i === 0 ? value : i64.or(value, below(limbs[i - 1]!, shift)));
  });
  return [...shifted, f.i64(below(limbs[3]!, shift))];
}

/** All ones where the condition holds, else 0: adding by a mask costs less than a jump that is foretold wrong every other time. */
function mask(condition: Code): Code {
  return i64.sub(0n, i64.extendU(condition));
}

/** Möller and Granlund, Improved division by invariant integers, algorithm 4, for each limb. */
function divideByLimb(
  f: FunctionBuilder,
  digits: readonly Local[],
  by: Local,
  reciprocal: Local,
): { readonly quotient: Local[]; readonly rest: Local } {
  const rest = f.i64(digits[4]!);
  const quotient = [0, 1, 2, 3].map(() => f.i64(0n));
  for (const i of [3, 2, 1, 0]) {
    const step = () =>
      f.scope(() => {
        const next = digits[i]!;
        const q = quotient[i]!;
        const low = f.i64(i64.add(i64.mul(reciprocal, rest), next));
        const carry = i64.extendU(i64.ltU(low, next));
        const high = i64.add(multiplyHigh(f, reciprocal, rest), i64.add(i64.add(rest, carry), 1n));
        f.set(q, high);
        f.set(rest, i64.sub(next, i64.mul(q, by)));
        const tooMuch = f.i64(mask(i64.gtU(rest, low)));
        f.set(q, i64.add(q, tooMuch));
        f.set(rest, i64.add(rest, i64.and(tooMuch, by)));
        f.if(i64.geU(rest, by), () => {
          f.set(q, i64.add(q, 1n));
          f.set(rest, i64.sub(rest, by));
        });
      });
    if (i === 0) step();
    else {
      // Leading limbs that are 0 cost a comparison.
      const isShorter = i32.and(i64.eqz(rest), i64.ltU(digits[i]!, by));
      f.if(isShorter, () => f.set(rest, digits[i]!), step);
    }
  }
  return { quotient, rest };
}

/** A number of two limbs. */
export type Pair = { readonly high: Local; readonly low: Local };

/** The same paper's algorithm 5 for each limb of the quotient. */
function divideByPair(
  f: FunctionBuilder,
  digits: readonly Local[],
  divisor: Pair,
  reciprocal: Local,
): { readonly quotient: Local[]; readonly rest: Pair } {
  const rest: Pair = { high: f.i64(digits[4]!), low: f.i64(digits[3]!) };
  const quotient = [0, 1, 2].map(() => f.i64(0n));
  for (const i of [2, 1, 0]) {
    const step = () => divideThreeByTwo(f, { rest, next: digits[i]!, divisor, reciprocal, q: quotient[i]! });
    if (i === 0) step();
    else f.if(i64.eqz(rest.high), () => divideLeading(f, { rest, next: digits[i]!, divisor, q: quotient[i]! }), step);
  }
  return { quotient, rest };
}

/** As `divideThreeByTwo` where the high limb of `rest` is 0, so that the quotient is 0 or 1. */
function divideLeading(
  f: FunctionBuilder,
  {
    rest,
    next,
    divisor,
    q,
  }: { readonly rest: Pair; readonly next: Operand; readonly divisor: Pair; readonly q: Local },
): void {
  f.set(rest.high, rest.low);
  f.set(rest.low, next);
  f.if(isAtLeast(rest, divisor), () => {
    f.set(q, 1n);
    subtractPair(f, rest, divisor);
  });
}

/**
 * q and rest of (rest·2^64 + next) / divisor, with rest < divisor and the divisor's top bit set (Möller and Granlund,
 * algorithm 5).
 */
export function divideThreeByTwo(
  f: FunctionBuilder,
  {
    rest,
    next,
    divisor,
    reciprocal,
    q,
  }: {
    readonly rest: Pair;
    readonly next: Operand;
    readonly divisor: Pair;
    readonly reciprocal: Local;
    readonly q: Local;
  },
): void {
  f.scope(() => {
    const low = f.i64(i64.add(i64.mul(reciprocal, rest.high), rest.low));
    const carry = i64.extendU(i64.ltU(low, rest.low));
    f.set(q, i64.add(multiplyHigh(f, reciprocal, rest.high), i64.add(rest.high, carry)));
    const product = f.i64(i64.mul(divisor.low, q));
    const productHigh = f.i64(multiplyHigh(f, divisor.low, q));
    f.set(rest.high, i64.sub(rest.low, i64.mul(q, divisor.high)));
    f.set(rest.low, next);
    subtractPair(f, rest, { high: productHigh, low: product });
    subtractPair(f, rest, divisor);
    const tooMuch = f.i64(mask(i64.geU(rest.high, low)));
    f.set(q, i64.add(i64.add(q, 1n), tooMuch));
    const sum = f.i64(i64.add(rest.low, i64.and(tooMuch, divisor.low)));
    const sumCarry = i64.extendU(i64.ltU(sum, rest.low));
    f.set(rest.high, i64.add(i64.add(rest.high, i64.and(tooMuch, divisor.high)), sumCarry));
    f.set(rest.low, sum);
    f.if(isAtLeast(rest, divisor), () => {
      f.set(q, i64.add(q, 1n));
      subtractPair(f, rest, divisor);
    });
  });
}

function subtractPair(f: FunctionBuilder, a: Pair, b: Pair): void {
  const borrow = i64.extendU(i64.ltU(a.low, b.low));
  f.set(a.high, i64.sub(i64.sub(a.high, b.high), borrow));
  f.set(a.low, i64.sub(a.low, b.low));
}

export function isAtLeast(a: Pair, b: Pair): Code {
  return i32.or(i64.gtU(a.high, b.high), i32.and(i64.eq(a.high, b.high), i64.geU(a.low, b.low)));
}

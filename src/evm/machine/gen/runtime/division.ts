import { type Code, i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import {
  NORMALISED_NUMERATOR,
  QUOTIENT,
  RECIPROCAL_SIZE,
  RECIPROCALS,
  RECIPROCALS_BITS,
  REMAINDER,
} from "../../memory/layout.ts";
import { multiplyHigh, storeZero } from "../words.ts";
import { divideThreeByTwo, isAtLeast, type Pair } from "./short-division.ts";

/**
 * divide(numerator, limbs, denominator): the quotient and remainder of a number of up to 8 limbs by a word that is not 0,
 * in QUOTIENT (as many limbs as the numerator, at least 4) and REMAINDER. Knuth, The Art of Computer Programming,
 * volume 2, 4.3.1, algorithm D, with digits of 64 bits and with reciprocals instead of divisions (Möller and Granlund,
 * Improved division by invariant integers).
 */
export function defineDivide(module: ModuleBuilder, reciprocal: FunctionRef): FunctionRef {
  return module.define(["i32", "i32", "i32"], [], (f, numerator_, limbs_, denominator_) => {
    const numerator = numerator_!;
    const denominator = denominator_!;
    const m = limbs_!;
    const n = f.i32(4);
    storeZero(f, QUOTIENT);
    storeZero(f, REMAINDER);
    trim(f, denominator, n);
    trim(f, numerator, m);
    f.if(i32.ltU(m, n), () => {
      copyLimbs(f, REMAINDER, numerator, m);
      f.return();
    });
    f.if(i32.eq(m, 1), () => {
      const whole = f.i64(i64.load(numerator));
      const by = f.i64(i64.load(denominator));
      f.do(i64.store(QUOTIENT, i64.divU(whole, by)), i64.store(REMAINDER, i64.remU(whole, by)));
      f.return();
    });
    const top = f.i64(limbAt(denominator, i32.sub(n, 1)));

    // Step D1: shift both so that the denominator's leading limb has its top bit set.
    const shift = f.i64(i64.clz(top));
    normalise(f, numerator, m, shift);
    f.set(top, i64.shl(top, shift));
    f.if(i32.eq(n, 1), () => {
      divideByLimb(f, m, top, shift, call(reciprocal, top, 0n));
      f.return();
    });
    for (const size of [2, 3, 4]) {
      f.if(i32.eq(n, size), () =>
        f.scope(() => {
          const limbs = Array.from({ length: size }, (_, i) =>
            f.i64(i === 0 ? i64.shl(i64.load(denominator), shift) : shiftedPair(denominator, 8 * (i - 1), shift)),
          );
          divideByLimbs(f, m, limbs, shift, call(reciprocal, limbs[size - 1]!, limbs[size - 2]!));
          f.return();
        }),
      );
    }
  });
}

function limbAt(base: Operand, index: Operand, offset = 0): Code {
  return i64.load(i32.add(base, i32.shl(index, 3)), offset);
}

/** Takes leading zero limbs off. */
function trim(f: FunctionBuilder, base: Operand, count: Local): void {
  f.block((done) =>
    f.loop((again) => {
      f.brIf(done, i32.eqz(count));
      f.brIf(done, i64.ne(limbAt(base, i32.sub(count, 1)), 0n));
      f.set(count, i32.sub(count, 1));
      f.br(again);
    }),
  );
}

function copyLimbs(f: FunctionBuilder, to: number, from: Local, count: Local): void {
  f.block((done) =>
    f.loop((again) => {
      f.brIf(done, i32.eqz(count));
      f.set(count, i32.sub(count, 1));
      const offset = f.i32(i32.shl(count, 3));
      f.do(i64.store(offset, i64.load(i32.add(from, offset)), to));
      f.br(again);
    }),
  );
}

/** The high limb of the two at `address + offset`, shifted left by fewer than 64 bits. */
function shiftedPair(address: Operand, offset: number, shift: Local): Code {
  const carried = i64.shrU(i64.shrU(i64.load(address, offset), 1n), i64.sub(63n, shift));
  return i64.or(i64.shl(i64.load(address, offset + 8), shift), carried);
}

/** The numerator shifted left, one limb longer, in NORMALISED_NUMERATOR. */
function normalise(f: FunctionBuilder, numerator: Local, m: Local, shift: Local): void {
  const at = f.i32(i32.shl(m, 3));
  const from = f.i32(i32.add(numerator, i32.sub(at, 8)));
  const carried = i64.shrU(i64.shrU(i64.load(from), 1n), i64.sub(63n, shift));
  f.do(i64.store(at, carried, NORMALISED_NUMERATOR));
  f.block((done) =>
    f.loop((again) => {
      f.set(at, i32.sub(at, 8));
      f.brIf(done, i32.eqz(at));
      f.set(from, i32.sub(from, 8));
      f.do(i64.store(at, shiftedPair(from, 0, shift), NORMALISED_NUMERATOR));
      f.br(again);
    }),
  );
  f.do(i64.store(NORMALISED_NUMERATOR, i64.shl(i64.load(numerator), shift)));
}

/** Divides the normalised numerator by one limb (Möller and Granlund, algorithm 4). */
function divideByLimb(f: FunctionBuilder, m: Local, by: Local, shift: Local, inverse: Code): void {
  const reciprocal = f.i64(inverse);
  const at = f.i32(i32.shl(m, 3));
  const rest = f.i64(i64.load(at, NORMALISED_NUMERATOR));
  f.loop((again) => {
    f.set(at, i32.sub(at, 8));
    f.scope(() => {
      const next = f.i64(i64.load(at, NORMALISED_NUMERATOR));
      const low = f.i64(i64.add(i64.mul(reciprocal, rest), next));
      const carry = i64.extendU(i64.ltU(low, next));
      const high = i64.add(i64.add(multiplyHigh(f, reciprocal, rest), rest), carry);
      const q = f.i64(i64.add(high, 1n));
      f.set(rest, i64.sub(next, i64.mul(q, by)));
      f.if(i64.gtU(rest, low), () => {
        f.set(q, i64.sub(q, 1n));
        f.set(rest, i64.add(rest, by));
      });
      f.if(i64.geU(rest, by), () => {
        f.set(q, i64.add(q, 1n));
        f.set(rest, i64.sub(rest, by));
      });
      f.do(i64.store(at, q, QUOTIENT));
    });
    f.brIf(again, at);
  });
  f.do(i64.store(REMAINDER, i64.shrU(rest, shift)));
}

/** Divides the normalised numerator, in place, by two to four limbs. */
function divideByLimbs(f: FunctionBuilder, m: Local, by: readonly Local[], shift: Local, inverse: Code): void {
  const n = by.length;
  const divisor: Pair = { high: by[n - 1]!, low: by[n - 2]! };
  const reciprocal = f.i64(inverse);
  const at = f.i32(i32.shl(i32.sub(m, n), 3));
  const u = (i: number) => i64.load(at, NORMALISED_NUMERATOR + 8 * i);
  const setU = (i: number, value: Operand) => f.do(i64.store(at, value, NORMALISED_NUMERATOR + 8 * i));
  const q = f.local("i64");
  const rest: Pair = { high: f.local("i64"), low: f.local("i64") };
  const borrow = f.local("i64");
  f.loop((again) => {
    f.scope(() => {
      f.set(rest.high, u(n));
      f.set(rest.low, u(n - 1));
      const estimate = () => divideThreeByTwo(f, { rest, next: u(n - 2), divisor, reciprocal, q });
      if (n === 2) {
        // Two limbs have no others for which the estimate could be wrong.
        estimate();
        setU(0, rest.low);
        setU(1, rest.high);
        return;
      }
      const subtract = (limbs: readonly Local[]) => subtractProduct(f, { u, setU, q, limbs, borrow });
      f.if(
        i32.and(i64.eq(rest.high, divisor.high), i64.eq(rest.low, divisor.low)),
        () => {
          // The quotient by only the two leading limbs would be 2^64.
          f.set(q, -1n);
          subtract(by);
        },
        () => {
          estimate();
          subtract(by.slice(0, n - 2));
          setU(n - 2, i64.sub(rest.low, borrow));
          f.set(borrow, i64.extendU(i64.ltU(rest.low, borrow)));
          setU(n - 1, i64.sub(rest.high, borrow));
          // Step D6: below zero, the estimate was one too high.
          f.if(i64.ltU(rest.high, borrow), () => {
            f.set(q, i64.sub(q, 1n));
            addBack(f, { u, setU, by });
          });
        },
      );
    });
    f.do(i64.store(at, q, QUOTIENT));
    f.set(at, i32.sub(at, 8));
    f.brIf(again, i32.eqz(i32.ltS(at, 0)));
  });
  // Step D8: shift the remainder back.
  for (let i = 0; i < n; i++) {
    const low = i64.shrU(i64.load(NORMALISED_NUMERATOR, 8 * i), shift);
    const above = i64.load(NORMALISED_NUMERATOR, 8 * (i + 1));
    const high = i64.shl(i64.shl(above, 1n), i64.sub(63n, shift));
    f.do(i64.store(REMAINDER, i === n - 1 ? low : i64.or(low, high), 8 * i));
  }
}

/** Limbs of the numerator from the place of the quotient's limb on. */
type Window = {
  readonly u: (i: number) => Code;
  readonly setU: (i: number, value: Operand) => void;
};

/** Step D4: subtracts q times `limbs`; what is still to be subtracted above them is left in `borrow`. */
function subtractProduct(
  f: FunctionBuilder,
  {
    u,
    setU,
    q,
    limbs,
    borrow,
  }: Window & { readonly q: Local; readonly limbs: readonly Local[]; readonly borrow: Local },
): void {
  f.set(borrow, 0n);
  limbs.forEach((limb, i) => {
    f.scope(() => {
      const old = f.i64(u(i));
      const product = f.i64(i64.mul(q, limb));
      const first = f.i64(i64.sub(old, borrow));
      const borrows = f.i64(i64.add(i64.extendU(i64.ltU(old, borrow)), i64.extendU(i64.ltU(first, product))));
      setU(i, i64.sub(first, product));
      f.set(borrow, i64.add(multiplyHigh(f, q, limb), borrows));
    });
  });
}

function addBack(f: FunctionBuilder, { u, setU, by }: Window & { readonly by: readonly Local[] }): void {
  const carry = f.i64(0n);
  by.forEach((limb, i) => {
    f.scope(() => {
      const sum = f.i64(i64.add(u(i), limb));
      const total = f.i64(i64.add(sum, carry));
      setU(i, total);
      f.set(carry, i64.extendU(i32.or(i64.ltU(sum, limb), i64.ltU(total, sum))));
    });
  });
}

/**
 * reciprocal(high, low): ⌊(2^192 − 1) / (high·2^64 + low)⌋ − 2^64 for a high limb with its top bit set. Contracts divide by
 * the same few numbers again and again, so reciprocals are cached: each divisor has one slot, and the last one stays.
 */
export function defineReciprocal(module: ModuleBuilder): FunctionRef {
  return module.define(["i64", "i64"], ["i64"], (f, high_, low_) => {
    const divisor: Pair = { high: high_!, low: low_! };
    const mixed = i64.mul(i64.xor(divisor.high, divisor.low), 0x9e3779b97f4a7c15n);
    const index = i32.wrap(i64.shrU(mixed, BigInt(64 - RECIPROCALS_BITS)));
    const slot = f.i32(i32.mul(index, RECIPROCAL_SIZE));
    const high = i64.load(slot, RECIPROCALS);
    const low = i64.load(slot, RECIPROCALS + 8);
    f.if(i32.and(i64.eq(high, divisor.high), i64.eq(low, divisor.low)), () =>
      f.return(i64.load(slot, RECIPROCALS + 16)),
    );
    const v = f.i64(reciprocalOfLimb(f, divisor.high));
    refineReciprocal(f, v, divisor);
    f.do(
      i64.store(slot, divisor.high, RECIPROCALS),
      i64.store(slot, divisor.low, RECIPROCALS + 8),
      i64.store(slot, v, RECIPROCALS + 16),
    );
    f.return(i64.of(v));
  });
}

/** ⌊(2^128 − 1) / d⌋ − 2^64 for d with its top bit set (Möller and Granlund, algorithm 2). */
function reciprocalOfLimb(f: FunctionBuilder, d: Local): Code {
  // Each step about doubles the bits that are right, beginning with 11.
  const v0 = f.i64(i64.extendU(i32.divU(0x7fd00, i32.wrap(i64.shrU(d, 55n)))));
  const d40 = f.i64(i64.add(i64.shrU(d, 24n), 1n));
  const square = i64.mul(i64.mul(v0, v0), d40);
  const v1 = f.i64(i64.sub(i64.sub(i64.shl(v0, 11n), i64.shrU(square, 40n)), 1n));
  const error1 = i64.sub(1n << 60n, i64.mul(v1, d40));
  const v2 = f.i64(i64.add(i64.shl(v1, 13n), i64.shrU(i64.mul(v1, error1), 47n)));
  const odd = f.i64(i64.and(d, 1n));
  const half = i64.add(i64.shrU(d, 1n), odd);
  const error2 = f.i64(i64.sub(i64.and(i64.shrU(v2, 1n), i64.sub(0n, odd)), i64.mul(v2, half)));
  const v3 = f.i64(i64.add(i64.shrU(multiplyHigh(f, v2, error2), 1n), i64.shl(v2, 31n)));
  const low = f.i64(i64.add(i64.mul(v3, d), d));
  const carry = i64.extendU(i64.ltU(low, d));
  return i64.sub(v3, i64.add(i64.add(multiplyHigh(f, v3, d), d), carry));
}

/** Makes the reciprocal of the high limb that of both: ⌊(2^192 − 1) / divisor⌋ − 2^64 (algorithm 6). */
function refineReciprocal(f: FunctionBuilder, v: Local, { high, low }: Pair): void {
  f.scope(() => {
    const p = f.i64(i64.add(i64.mul(high, v), low));
    const decrement = () => f.set(v, i64.sub(v, 1n));
    f.if(i64.ltU(p, low), () => {
      decrement();
      f.if(i64.geU(p, high), () => {
        decrement();
        f.set(p, i64.sub(p, high));
      });
      f.set(p, i64.sub(p, high));
    });
    const productHigh = f.i64(multiplyHigh(f, v, low));
    const product: Pair = { high: f.i64(i64.add(p, productHigh)), low: f.i64(i64.mul(v, low)) };
    f.if(i64.ltU(product.high, productHigh), () => {
      decrement();
      f.if(isAtLeast(product, { high, low }), decrement);
    });
  });
}

import { SCRATCH, WORD } from "../layout.ts";
import { type Code, i32, i64, type Local, memory, type Operand } from "../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../wasm/function.ts";
import type { ModuleBuilder } from "../wasm/module.ts";
import {
  copyWord,
  isZeroWord,
  limb,
  loadWord,
  multiplyHigh,
  orAll,
  storeWord,
  storeZero,
} from "./words.ts";

const NUMERATOR = SCRATCH;
const NORMALISED_NUMERATOR = SCRATCH + 0x80;
const NORMALISED_DENOMINATOR = SCRATCH + 0xe0;
const QUOTIENT = SCRATCH + 0x120;
const REMAINDER = SCRATCH + 0x180;
const POWER = SCRATCH + 0x1c0;
const BASE = SCRATCH + 0x200;

/** Multiplication, division and exponentiation too long to stand inside the interpreter loop. */
export type LongArithmetic = {
  /** multiply(a, b, target): addresses of words; the low 256 bits of the product */
  readonly multiply: FunctionRef;
  /** Each of these takes the stack pointer; the result replaces the deepest operand. */
  readonly div: FunctionRef;
  readonly mod: FunctionRef;
  readonly sdiv: FunctionRef;
  readonly smod: FunctionRef;
  readonly addmod: FunctionRef;
  readonly mulmod: FunctionRef;
  readonly exp: FunctionRef;
};

export function defineLongArithmetic(module: ModuleBuilder): LongArithmetic {
  const multiply = defineMultiply(module);
  const divide = defineDivide(module);

  const onStack = (build: (f: FunctionBuilder, sp: Local) => void) =>
    module.define(["i32"], [], (f, sp) => build(f, sp!));

  const unsignedDivision = (result: number) =>
    onStack((f, sp) => {
      f.if(i32.eqz(isZeroWord(sp, WORD)), () => {
        f.do(call(divide, sp, 8, i32.add(sp, WORD)));
        copyWord(f, sp, result, WORD);
      });
    });

  /** SDIV and SMOD divide the absolute values; the quotient is negative when the signs differ, the remainder takes the numerator's. */
  const signedDivision = (result: number) =>
    onStack((f, sp) => {
      f.if(isZeroWord(sp, WORD), () => f.return());
      const negativeNumerator = f.i32(i64.ltS(limb(sp, 3), 0n));
      const negativeDenominator = f.i32(i64.ltS(limb(sp, 3, WORD), 0n));
      f.if(negativeNumerator, () => negate(f, sp, 0));
      f.if(negativeDenominator, () => negate(f, sp, WORD));
      f.do(call(divide, sp, 8, i32.add(sp, WORD)));
      copyWord(f, sp, result, WORD);
      const isNegative: Operand =
        result === QUOTIENT ? i32.xor(negativeNumerator, negativeDenominator) : negativeNumerator;
      f.if(isNegative, () => negate(f, sp, WORD));
    });

  const addmod = onStack((f, sp) => {
    f.if(isZeroWord(sp, 2 * WORD), () => f.return());
    const a = loadWord(f, sp);
    const b = loadWord(f, sp, WORD);
    const carry = f.i64(0n);
    a.forEach((limbA, i) => {
      const sum = f.i64(i64.add(limbA, b[i]!));
      const total = f.i64(i64.add(sum, carry));
      f.set(carry, i64.extendU(i32.or(i64.ltU(sum, limbA), i64.ltU(total, sum))));
      f.do(i64.store(NUMERATOR, total, 8 * i));
    });
    f.do(i64.store(NUMERATOR, carry, 32));
    f.do(call(divide, NUMERATOR, 9, i32.add(sp, 2 * WORD)));
    copyWord(f, sp, REMAINDER, 2 * WORD);
  });

  const mulmod = onStack((f, sp) => {
    f.if(isZeroWord(sp, 2 * WORD), () => f.return());
    multiplyWide(f, sp);
    f.do(call(divide, NUMERATOR, 16, i32.add(sp, 2 * WORD)));
    copyWord(f, sp, REMAINDER, 2 * WORD);
  });

  return {
    multiply,
    div: unsignedDivision(QUOTIENT),
    mod: unsignedDivision(REMAINDER),
    sdiv: signedDivision(QUOTIENT),
    smod: signedDivision(REMAINDER),
    addmod,
    mulmod,
    exp: defineExp(module, multiply),
  };
}

/** multiply(a, b, target): a·b mod 2^256 by the schoolbook, the ten products of limbs that reach below bit 256. */
function defineMultiply(module: ModuleBuilder): FunctionRef {
  return module.define(["i32", "i32", "i32"], [], (f, aAddress, bAddress, target) => {
    const a = loadWord(f, aAddress!);
    const b = loadWord(f, bAddress!);
    const low = (i: number, j: number) => i64.mul(a[i]!, b[j]!);
    const r1 = f.i64(multiplyHigh(f, a[0], b[0]));
    const r2 = f.i64(0n);
    const r3 = f.i64(0n);
    const carryOf = (sum: Local, added: Operand) => i64.extendU(i64.ltU(sum, added));
    /** Adds a_i·b_j to the limbs from `at` on. */
    const addProduct = (i: number, j: number, at: Local, next: Local, after?: Local) => {
      const product = f.i64(low(i, j));
      f.set(at, i64.add(at, product));
      const high = f.i64(i64.add(multiplyHigh(f, a[i]!, b[j]!), carryOf(at, product)));
      f.set(next, i64.add(next, high));
      if (after) f.set(after, i64.add(after, carryOf(next, high)));
    };
    addProduct(0, 1, r1, r2);
    addProduct(1, 0, r1, r2, r3);
    addProduct(0, 2, r2, r3);
    addProduct(1, 1, r2, r3);
    addProduct(2, 0, r2, r3);
    const top = [low(0, 3), low(1, 2), low(2, 1), low(3, 0)].reduce((x, y) => i64.add(x, y));
    storeWord(f, target!, [low(0, 0), r1, r2, i64.add(r3, top)]);
  });
}

/** The 512-bit product of the two words at `sp` in NUMERATOR, digit by digit of 32 bits. */
function multiplyWide(f: FunctionBuilder, sp: Local): void {
  storeZero(f, NUMERATOR);
  storeZero(f, NUMERATOR + WORD);
  const i = f.i32(0);
  f.loop((nextRow) => {
    const digit = f.i64(i64.load32(i32.add(sp, i)));
    f.if(i32.eqz(i64.eqz(digit)), () => {
      const carry = f.i64(0n);
      const j = f.i32(0);
      f.loop((nextDigit) => {
        const at = f.i32(i32.add(i32.add(i, j), NUMERATOR));
        f.set(
          carry,
          i64.add(i64.add(i64.load32(at), carry), i64.mul(digit, i64.load32(i32.add(sp, j), WORD))),
        );
        f.do(i64.store32(at, carry));
        f.set(carry, i64.shrU(carry, 32n));
        f.set(j, i32.add(j, 4));
        f.brIf(nextDigit, i32.ltU(j, WORD));
      });
      f.do(i64.store32(i32.add(i, NUMERATOR), carry, WORD));
    });
    f.set(i, i32.add(i, 4));
    f.brIf(nextRow, i32.ltU(i, WORD));
  });
}

/**
 * divide(numerator, digits, denominator): the quotient and remainder of a number of `digits` 32-bit digits by a word
 * that is not 0, in QUOTIENT and REMAINDER. Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D.
 */
function defineDivide(module: ModuleBuilder): FunctionRef {
  return module.define(["i32", "i32", "i32"], [], (f, numerator_, digits_, denominator_) => {
    const numerator = numerator_!;
    const denominator = denominator_!;
    const m = digits_!;
    const n = f.i32(8);
    const digit = (base: Operand, index: Operand, offset = 0): Code =>
      i64.load32(i32.add(base, i32.shl(index, 2)), offset);
    const pair = (base: Operand, index: Operand): Code =>
      i64.load(i32.add(base, i32.shl(index, 2)));
    const setDigit = (base: Operand, index: Operand, value: Operand, offset = 0): Code =>
      i64.store32(i32.add(base, i32.shl(index, 2)), value, offset);
    /** Takes leading zero digits off. */
    const trim = (base: Operand, count: Local) =>
      f.block((done) =>
        f.loop((again) => {
          f.brIf(done, i32.eqz(count));
          f.brIf(done, i64.ne(digit(base, i32.sub(count, 1)), 0n));
          f.set(count, i32.sub(count, 1));
          f.br(again);
        }),
      );
    storeZero(f, QUOTIENT);
    storeZero(f, QUOTIENT + WORD);
    storeZero(f, REMAINDER);
    trim(denominator, n);
    trim(numerator, m);

    f.if(i32.ltU(m, n), () => {
      f.do(memory.copy(REMAINDER, numerator, i32.shl(m, 2)));
      f.return();
    });

    const j = f.i32(0);
    // Step D1: shift both so that the denominator's leading digit has its top bit set.
    const shift = f.i64(i64.sub(i64.clz(digit(denominator, i32.sub(n, 1))), 32n));
    const shiftInto = (to: number, from: Local, count: Local) => {
      f.do(i64.store32(to, i64.shl(i64.load32(from), shift)));
      f.set(j, 1);
      f.loop((again) => {
        const shifted = i64.shrU(i64.shl(pair(from, i32.sub(j, 1)), shift), 32n);
        f.do(setDigit(to, j, shifted));
        f.set(j, i32.add(j, 1));
        f.brIf(again, i32.ltU(j, count));
      });
    };
    f.do(
      setDigit(
        NORMALISED_NUMERATOR,
        m,
        i64.shrU(i64.shl(digit(numerator, i32.sub(m, 1)), shift), 32n),
      ),
    );
    shiftInto(NORMALISED_NUMERATOR, numerator, m);
    shiftInto(NORMALISED_DENOMINATOR, denominator, n);

    const first = f.i64(digit(NORMALISED_DENOMINATOR, i32.sub(n, 1)));
    const reciprocal = f.i64(i64.sub(i64.divU(-1n, first), 1n << 32n));
    const q = f.local("i64");
    const rest = f.local("i64");

    f.if(i32.eq(n, 1), () => {
      f.set(rest, digit(NORMALISED_NUMERATOR, m));
      f.set(j, m);
      f.loop((again) => {
        f.set(j, i32.sub(j, 1));
        divideDigits(f, {
          high: rest,
          low: digit(NORMALISED_NUMERATOR, j),
          by: first,
          reciprocal,
          q,
          rest,
        });
        f.do(setDigit(QUOTIENT, j, q));
        f.brIf(again, j);
      });
      f.do(i64.store(REMAINDER, i64.shrU(rest, shift)));
      f.return();
    });

    const second = f.i64(digit(NORMALISED_DENOMINATOR, i32.sub(n, 2)));
    const u = f.local("i32");
    const part = f.local("i64");
    const borrow = f.local("i64");
    const i = f.local("i32");
    f.set(j, i32.sub(m, n));
    f.loop((nextDigit) => {
      // Step D3: estimate the digit from the two leading digits, correct it with the third.
      f.set(u, i32.add(i32.shl(j, 2), NORMALISED_NUMERATOR));
      const high = f.i64(digit(u, n));
      const low = f.i64(digit(u, i32.sub(n, 1)));
      f.if(
        i64.ltU(high, first),
        () => divideDigits(f, { high, low, by: first, reciprocal, q, rest }),
        () => {
          // The quotient would be 2^32, one more than the largest digit.
          f.set(q, 0xffffffffn);
          f.set(rest, i64.add(low, first));
        },
      );
      f.block((good) =>
        f.loop((again) => {
          f.brIf(good, i64.gtU(rest, 0xffffffffn));
          const withThird = i64.or(i64.shl(rest, 32n), digit(u, i32.sub(n, 2)));
          f.brIf(good, i64.leU(i64.mul(q, second), withThird));
          f.set(q, i64.sub(q, 1n));
          f.set(rest, i64.add(rest, first));
          f.br(again);
        }),
      );
      // Step D4: subtract q times the denominator.
      f.set(borrow, 0n);
      f.set(i, 0);
      f.loop((again) => {
        f.scope(() => {
          const product = f.i64(i64.mul(q, digit(NORMALISED_DENOMINATOR, i)));
          const difference = f.i64(
            i64.sub(i64.sub(digit(u, i), borrow), i64.and(product, 0xffffffffn)),
          );
          f.do(setDigit(u, i, difference));
          f.set(borrow, i64.sub(i64.shrU(product, 32n), i64.shrS(difference, 32n)));
        });
        f.set(i, i32.add(i, 1));
        f.brIf(again, i32.ltU(i, n));
      });
      f.set(part, i64.sub(digit(u, n), borrow));
      f.do(setDigit(u, n, part));
      // Step D6: the estimate was one too high.
      f.if(i64.ltS(part, 0n), () => {
        f.set(q, i64.sub(q, 1n));
        f.set(borrow, 0n);
        f.set(i, 0);
        f.loop((again) => {
          f.set(borrow, i64.add(i64.add(digit(u, i), digit(NORMALISED_DENOMINATOR, i)), borrow));
          f.do(setDigit(u, i, borrow));
          f.set(borrow, i64.shrU(borrow, 32n));
          f.set(i, i32.add(i, 1));
          f.brIf(again, i32.ltU(i, n));
        });
        f.do(setDigit(u, n, i64.add(digit(u, n), borrow)));
      });
      f.do(setDigit(QUOTIENT, j, q));
      f.set(j, i32.sub(j, 1));
      f.brIf(nextDigit, i32.eqz(i32.ltS(j, 0)));
    });
    // Step D8: shift the remainder back.
    f.set(i, 0);
    f.loop((again) => {
      f.do(setDigit(REMAINDER, i, i64.shrU(pair(NORMALISED_NUMERATOR, i), shift)));
      f.set(i, i32.add(i, 1));
      f.brIf(again, i32.ltU(i, n));
    });
  });
}

/**
 * q and rest of (high·2^32 + low) / by for digits of 32 bits, high < by, the top bit of `by` set; `rest` may be `high`.
 * One multiplication by the reciprocal ⌊(2^64 − 1) / by⌋ − 2^32 and two corrections take a third of a division's time
 * (Möller and Granlund, Improved division by invariant integers, algorithm 4).
 */
function divideDigits(
  f: FunctionBuilder,
  digits: Readonly<Record<"high" | "by" | "reciprocal" | "q" | "rest", Local>> & { low: Operand },
): void {
  const { high, low, by, reciprocal, q, rest } = digits;
  const mask = 0xffffffffn;
  f.scope(() => {
    const lowDigit = f.i64(low);
    const product = f.i64(i64.add(i64.mul(reciprocal, high), i64.or(i64.shl(high, 32n), lowDigit)));
    f.set(q, i64.and(i64.add(i64.shrU(product, 32n), 1n), mask));
    f.set(rest, i64.and(i64.sub(lowDigit, i64.mul(q, by)), mask));
    f.if(i64.gtU(rest, i64.and(product, mask)), () => {
      f.set(q, i64.and(i64.sub(q, 1n), mask));
      f.set(rest, i64.and(i64.add(rest, by), mask));
    });
    f.if(i64.geU(rest, by), () => {
      f.set(q, i64.add(q, 1n));
      f.set(rest, i64.sub(rest, by));
    });
  });
}

/** exp(sp): base at `sp`, exponent under it; square and multiply from the lowest bit. */
function defineExp(module: ModuleBuilder, multiply: FunctionRef): FunctionRef {
  return module.define(["i32"], [], (f, sp_) => {
    const sp = sp_!;
    const bits = f.i64(0n);
    for (const i of [0, 1, 2, 3]) {
      f.if(i64.ne(limb(sp, i, WORD), 0n), () =>
        f.set(bits, i64.sub(64n * BigInt(i + 1), i64.clz(limb(sp, i, WORD)))),
      );
    }
    storeWord(f, POWER, [1n, 0n, 0n, 0n]);
    copyWord(f, BASE, sp);
    const multiplyTo = (target: number, a: number, b: number) => f.do(call(multiply, a, b, target));
    const at = f.i64(0n);
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i64.geU(at, bits));
        const byte = i64.load8(i32.add(sp, i32.wrap(i64.shrU(at, 3n))), WORD);
        f.if(i32.wrap(i64.and(i64.shrU(byte, i64.and(at, 7n)), 1n)), () =>
          multiplyTo(POWER, POWER, BASE),
        );
        f.set(at, i64.add(at, 1n));
        multiplyTo(BASE, BASE, BASE);
        f.br(again);
      }),
    );
    copyWord(f, sp, POWER, WORD);
  });
}

/** Two's complement of the word at `address + offset`, in place. */
function negate(f: FunctionBuilder, address: Local, offset: number): void {
  f.scope(() => {
    const limbs = loadWord(f, address, offset);
    limbs.forEach((value, i) => {
      // −x is ~x plus the carry that runs through while all lower limbs are 0.
      const carry = i === 0 ? i64.of(1n) : i64.extendU(i64.eqz(orAll(limbs.slice(0, i))));
      f.do(i64.store(address, i64.add(i64.xor(value, -1n), carry), offset + 8 * i));
    });
  });
}

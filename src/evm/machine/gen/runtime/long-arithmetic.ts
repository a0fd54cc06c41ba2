import { i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import type { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { BASE, NUMERATOR, POWER, QUOTIENT, REMAINDER, WORD } from "../../memory/layout.ts";
import { copyWord, isZeroWord, limb, loadWord, multiplyHigh, orAll, storeWord } from "../words.ts";
import { defineDivide, defineReciprocal } from "./division.ts";
import { defineShortDivision } from "./short-division.ts";

/** Multiplication, division and exponentiation too long to be inlined in the interpreter loop. */
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
  const reciprocal = defineReciprocal(module);
  const divide = defineDivide(module, reciprocal);
  const short = {
    quotientByLimb: defineShortDivision(module, "quotientByLimb"),
    remainderByLimb: defineShortDivision(module, "remainderByLimb"),
    quotientByPair: defineShortDivision(module, "quotientByPair"),
    remainderByPair: defineShortDivision(module, "remainderByPair"),
  };

  const onStack = (build: (f: FunctionBuilder, sp: Local) => void) =>
    module.define(["i32"], [], (f, sp) => build(f, sp!));

  /** Divides by a number of one limb or two; returns from the function then. */
  const divideByShort = (f: FunctionBuilder, sp: Local, result: number) => {
    const isQuotient = result === QUOTIENT;
    const high = f.i64(limb(sp, 1, WORD));
    const low = f.i64(limb(sp, 0, WORD));
    f.if(i64.eqz(i64.or(limb(sp, 2, WORD), limb(sp, 3, WORD))), () => {
      const numerator = [0, 1, 2, 3].map((i) => limb(sp, i));
      const isPair = f.i32(i64.ne(high, 0n));
      const shift = f.i64(i64.clz(i64.select(isPair, high, low)));
      const limbs = Array.from({ length: 4 }, () => f.i64(0n));
      f.if(
        isPair,
        () => {
          f.set(high, i64.or(i64.shl(high, shift), i64.shrU(i64.shrU(low, 1n), i64.sub(63n, shift))));
          f.set(low, i64.shl(low, shift));
          const inverse = call(reciprocal, high, low);
          const compute = isQuotient ? short.quotientByPair : short.remainderByPair;
          f.setAll(limbs.slice(0, isQuotient ? 3 : 2), call(compute, ...numerator, high, low, shift, inverse));
        },
        () => {
          f.set(low, i64.shl(low, shift));
          const inverse = call(reciprocal, low, 0n);
          const compute = isQuotient ? short.quotientByLimb : short.remainderByLimb;
          f.setAll(limbs.slice(0, isQuotient ? 4 : 1), call(compute, ...numerator, low, shift, inverse));
        },
      );
      storeWord(f, sp, limbs, WORD);
      f.return();
    });
  };

  const unsignedDivision = (result: number) =>
    onStack((f, sp) => {
      f.if(isZeroWord(sp, WORD), () => f.return());
      divideByShort(f, sp, result);
      f.do(call(divide, sp, 4, i32.add(sp, WORD)));
      storeWord(f, sp, loadWord(f, result), WORD);
    });
  const div = unsignedDivision(QUOTIENT);
  const mod = unsignedDivision(REMAINDER);

  /** SDIV and SMOD divide the absolute values; the quotient is negative when the signs differ, the remainder takes the numerator's. */
  const signedDivision = (result: number) =>
    onStack((f, sp) => {
      f.if(isZeroWord(sp, WORD), () => f.return());
      const negativeNumerator = f.i32(i64.ltS(limb(sp, 3), 0n));
      const negativeDenominator = f.i32(i64.ltS(limb(sp, 3, WORD), 0n));
      f.if(negativeNumerator, () => negate(f, sp, 0));
      f.if(negativeDenominator, () => negate(f, sp, WORD));
      f.do(call(result === QUOTIENT ? div : mod, sp));
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
    f.do(call(divide, NUMERATOR, 5, i32.add(sp, 2 * WORD)));
    storeWord(f, sp, loadWord(f, REMAINDER), 2 * WORD);
  });

  const mulmod = onStack((f, sp) => {
    f.if(isZeroWord(sp, 2 * WORD), () => f.return());
    multiplyWide(f, sp);
    f.do(call(divide, NUMERATOR, 8, i32.add(sp, 2 * WORD)));
    storeWord(f, sp, loadWord(f, REMAINDER), 2 * WORD);
  });

  return {
    multiply,
    div,
    mod,
    sdiv: signedDivision(QUOTIENT),
    smod: signedDivision(REMAINDER),
    addmod,
    mulmod,
    exp: defineExp(module, multiply),
  };
}

/** multiply(a, b, target): a·b mod 2^256 */
function defineMultiply(module: ModuleBuilder): FunctionRef {
  return module.define(["i32", "i32", "i32"], [], (f, a, b, target) =>
    storeWord(f, target!, product(f, loadWord(f, a!), loadWord(f, b!))),
  );
}

/**
 * a·b mod 2^256 by the schoolbook, from the ten products of limbs that reach below bit 256. Limbs that are the constant 0
 * have none.
 */
export function product(f: FunctionBuilder, a: readonly Operand[], b: readonly Operand[]): Operand[] {
  const isNothing = (i: number, j: number) => a[i] === 0n || b[j] === 0n;
  const low = (i: number, j: number) => i64.mul(a[i]!, b[j]!);
  const r1 = f.i64(isNothing(0, 0) ? 0n : multiplyHigh(f, a[0]!, b[0]!));
  const r2 = f.i64(0n);
  const r3 = f.i64(0n);
  const carryOf = (sum: Local, added: Operand) => i64.extendU(i64.ltU(sum, added));
  /** Adds a_i·b_j to the limbs from `at` on. */
  const addProduct = (i: number, j: number, at: Local, next: Local, after?: Local) => {
    if (isNothing(i, j)) return;
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
  for (let i = 0; i < 4; i++) {
    if (!isNothing(i, 3 - i)) f.set(r3, i64.add(r3, low(i, 3 - i)));
  }
  return [isNothing(0, 0) ? 0n : low(0, 0), i64.of(r1), i64.of(r2), i64.of(r3)];
}

/** The 512-bit product of the two words at `sp` in NUMERATOR, by the schoolbook. */
function multiplyWide(f: FunctionBuilder, sp: Local): void {
  const a = loadWord(f, sp);
  const b = loadWord(f, sp, WORD);
  const carry = f.local("i64");
  a.forEach((limbA, i) => {
    f.set(carry, 0n);
    b.forEach((limbB, j) => {
      f.scope(() => {
        // a·b + carry + the stored word is below 2^128.
        const product = f.i64(i64.mul(limbA, limbB));
        const sum = f.i64(i64.add(product, carry));
        const old = i === 0 ? i64.of(0n) : i64.load(NUMERATOR, 8 * (i + j));
        const total = f.i64(i64.add(sum, old));
        f.do(i64.store(NUMERATOR, total, 8 * (i + j)));
        const carries = i64.add(i64.extendU(i64.ltU(sum, product)), i64.extendU(i64.ltU(total, sum)));
        f.set(carry, i64.add(multiplyHigh(f, limbA, limbB), carries));
      });
    });
    f.do(i64.store(NUMERATOR, carry, 8 * (i + 4)));
  });
}

/** exp(sp): base at `sp`, exponent under it; square and multiply from the lowest bit. */
function defineExp(module: ModuleBuilder, multiply: FunctionRef): FunctionRef {
  return module.define(["i32"], [], (f, sp_) => {
    const sp = sp_!;
    const bits = f.i64(0n);
    for (const i of [0, 1, 2, 3]) {
      f.if(i64.ne(limb(sp, i, WORD), 0n), () => f.set(bits, i64.sub(64n * BigInt(i + 1), i64.clz(limb(sp, i, WORD)))));
    }
    storeWord(f, POWER, [1n, 0n, 0n, 0n]);
    copyWord(f, BASE, sp);
    const multiplyTo = (target: number, a: number, b: number) => f.do(call(multiply, a, b, target));
    const at = f.i64(0n);
    f.block((done) =>
      f.loop((again) => {
        f.brIf(done, i64.geU(at, bits));
        const byte = i64.load8(i32.add(sp, i32.wrap(i64.shrU(at, 3n))), WORD);
        f.if(i32.wrap(i64.and(i64.shrU(byte, i64.and(at, 7n)), 1n)), () => multiplyTo(POWER, POWER, BASE));
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

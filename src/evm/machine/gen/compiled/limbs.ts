import { type Code, i32, i64, type Local, type Operand } from "../../../../base/wasm/code.ts";

/** A 64-bit part of a word: a variable, or a number known when the code is emitted. */
export type Limb = Local | bigint;

export type FourLimbs = readonly [Limb, Limb, Limb, Limb];

const ALL_ONES = (1n << 64n) - 1n;

/** Operations on 64-bit values, some of which are known when the code is emitted. */
export const folded = {
  and(a: Operand, b: Operand): Operand {
    if (a === 0n || b === 0n) return 0n;
    if (a === ALL_ONES) return b;
    if (b === ALL_ONES) return a;
    return bothKnown(a, b) ? (a as bigint) & (b as bigint) : i64.and(a, b);
  },
  or(a: Operand, b: Operand): Operand {
    if (a === 0n) return b;
    if (b === 0n) return a;
    return bothKnown(a, b) ? (a as bigint) | (b as bigint) : i64.or(a, b);
  },
  xor(a: Operand, b: Operand): Operand {
    if (a === 0n) return b;
    if (b === 0n) return a;
    return bothKnown(a, b) ? (a as bigint) ^ (b as bigint) : i64.xor(a, b);
  },
  shl(a: Operand, bits: number): Operand {
    if (bits === 0 || a === 0n) return a;
    if (typeof a === "bigint") return BigInt.asUintN(64, a << BigInt(bits));
    return i64.shl(a, BigInt(bits));
  },
  shrU(a: Operand, bits: number): Operand {
    if (bits === 0 || a === 0n) return a;
    return typeof a === "bigint" ? a >> BigInt(bits) : i64.shrU(a, BigInt(bits));
  },
} as const;

function bothKnown(a: Operand, b: Operand): boolean {
  return typeof a === "bigint" && typeof b === "bigint";
}

export function limbsOf(value: bigint): [bigint, bigint, bigint, bigint] {
  return [0n, 64n, 128n, 192n].map((shift) => BigInt.asUintN(64, value >> shift)) as [bigint, bigint, bigint, bigint];
}

/** The number that `limbs` are, when all of it is known. */
export function knownValue(limbs: readonly (Operand | undefined)[]): bigint | undefined {
  let value = 0n;
  for (let i = 3; i >= 0; i--) {
    const limb = limbs[i];
    if (typeof limb !== "bigint") return undefined;
    value = (value << 64n) | limb;
  }
  return value;
}

/** Limbs 1 to 3 are known to be 0. */
export function isKnownSmall([, a, b, c]: FourLimbs): boolean {
  return a === 0n && b === 0n && c === 0n;
}

/** All bits of `limbs` together. */
export function anyBits(limbs: readonly Operand[]): Operand {
  return limbs.reduce((sum, limb) => folded.or(sum, limb), 0n);
}

/** Operations on conditions, which may be known as 0 or 1. */
export const conditions = {
  not: (a: Operand): Operand => (typeof a === "number" ? 1 - a : i32.eqz(a)),
  and(a: Operand, b: Operand): Operand {
    if (a === 0 || b === 0) return 0;
    if (a === 1) return b;
    return b === 1 ? a : i32.and(a, b);
  },
  or(a: Operand, b: Operand): Operand {
    if (a === 1 || b === 1) return 1;
    if (a === 0) return b;
    return b === 0 ? a : i32.or(a, b);
  },
  isZero(a: Operand): Operand {
    return typeof a === "bigint" ? Number(a === 0n) : i64.eqz(a);
  },
} as const;

const COMPARE = {
  ltU: { emit: i64.ltU, decide: (a: bigint, b: bigint) => a < b },
  ltS: {
    emit: i64.ltS,
    decide: (a: bigint, b: bigint) => BigInt.asIntN(64, a) < BigInt.asIntN(64, b),
  },
} as const;

/** a < b of 256-bit words: the highest limb that differs decides. */
export function lessThan(a: FourLimbs, b: FourLimbs, isSigned: boolean): Operand {
  let result: Operand = 0;
  for (let i = 0; i < 4; i++) {
    const isEqual = conditions.isZero(folded.xor(a[i]!, b[i]!));
    const less = limbLess(a[i]!, b[i]!, i === 3 && isSigned);
    result = conditions.or(less, conditions.and(isEqual, result));
  }
  return result;
}

function limbLess(a: Operand, b: Operand, isSigned: boolean): Operand {
  const { emit, decide } = isSigned ? COMPARE.ltS : COMPARE.ltU;
  if (typeof a === "bigint" && typeof b === "bigint") return Number(decide(a, b));
  if (!isSigned && b === 0n) return 0;
  if (!isSigned && a === 0n) return i64.ne(b, 0n);
  return emit(a, b) as Code;
}

export function equal(a: FourLimbs, b: FourLimbs): Operand {
  return conditions.isZero(anyBits(a.map((limb, i) => folded.xor(limb, b[i]!))));
}

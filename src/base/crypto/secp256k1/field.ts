import { i32, i64, type Local, type Operand } from "../../wasm/code.ts";
import type { FunctionBuilder } from "../../wasm/function.ts";

/** Prime of the field of secp256k1: 2^256 − 2^32 − 977. */
export const PRIME = 2n ** 256n - 2n ** 32n - 977n;

const LIMBS = 9;
const BITS = 29n;
const MASK = (1n << BITS) - 1n;
/** Bits of the highest limb: 8 · 29 + 24 = 256. */
const TOP_BITS = 24n;
const TOP_MASK = (1n << TOP_BITS) - 1n;

/** Bytes of an element in linear memory. */
export const ELEMENT_SIZE = 8 * LIMBS;

/**
 * An element of the field is the sum of limb[i] · 2^(29i), modulo the prime. Limbs are signed 64-bit words; "carried" ones are in [0, 2^29 +
 * 2^16), the highest below 2^24 + 1. A column of a product sums eight products of two limbs and smaller terms: three times what carried operands
 * need fits 64 bits, so differences and small multiples can be operands without carrying.
 */
export type Element = readonly Operand[];

/** An element in linear memory. */
export type Place = { readonly address: Operand; readonly offset: number };

/** Element number `index` from `address` on. */
export function place(address: Operand, index = 0): Place {
  return { address, offset: index * ELEMENT_SIZE };
}

export function load(f: FunctionBuilder, { address, offset }: Place): Local[] {
  return indexes().map((i) => f.i64(i64.load(address, offset + 8 * i)));
}

/** Consecutive limbs as expressions, for operands that are read once. */
export function limbsAt({ address, offset }: Place): Element {
  return indexes().map((i) => i64.load(address, offset + 8 * i));
}

/** Stores what `build` computes; frees its variables afterwards, which saves registers. */
export function assign(f: FunctionBuilder, to: Place, build: () => Element): void {
  f.scope(() => {
    build().forEach((limb, i) => {
      f.do(i64.store(to.address, limb, to.offset + 8 * i));
    });
  });
}

export function constant(value: bigint): Element {
  return indexes().map((i) => (value >> (BITS * BigInt(i))) & (i === LIMBS - 1 ? TOP_MASK : MASK));
}

export function difference(f: FunctionBuilder, x: Element, y: Element): Local[] {
  return x.map((limb, i) => f.i64(i64.sub(limb, y[i]!)));
}

export function multiple(f: FunctionBuilder, x: Element, factor: 2n | 3n): Local[] {
  return x.map((limb) => f.i64(i64.mul(limb, factor)));
}

/** −factor · x, as an addend. */
export function negative(x: Element, factor: 1n | 4n = 1n): Element {
  return x.map((limb) => i64.sub(0n, factor === 1n ? limb : i64.shl(limb, 2n)));
}

/** x·y + addend, carried */
export function product(f: FunctionBuilder, x: Element, y: Element, addend?: Element): Local[] {
  return reduced(f, (column) => productTerms(x, y, column), addend);
}

/** x·y + u·v, carried, with one reduction */
export function sumOfProducts(
  f: FunctionBuilder,
  [x, y]: readonly [Element, Element],
  [u, v]: readonly [Element, Element],
): Local[] {
  return reduced(f, (column) => [...productTerms(x, y, column), ...productTerms(u, v, column)]);
}

/** factor·x² + addend, carried */
export function square(
  f: FunctionBuilder,
  x: Element,
  { addend, factor = 1n }: { readonly addend?: Element; readonly factor?: 1n | 2n | 3n } = {},
): Local[] {
  const own = factor === 1n ? x : multiple(f, x, factor);
  const twice = multiple(f, own, 2n);
  const terms = (column: number) =>
    pairs(column)
      .filter(([i, j]) => i <= j)
      .map(([i, j]) => i64.mul(i === j ? own[i]! : twice[i]!, x[j]!));
  return reduced(f, terms, addend);
}

/**
 * The element whose column n, of weight 2^(29n), is the sum of `columns(n)`, below 2^63 in absolute value. 2^261 is 2^37 + 31264 modulo the
 * prime: a high column, after carrying, is added 31264 times to a low one, and 2^8 times to the next.
 */
function reduced(f: FunctionBuilder, columns: (column: number) => readonly Operand[], addend?: Element): Local[] {
  const carry = f.i64(0n);
  const high: Local[] = [];
  for (let column = LIMBS; column < 2 * LIMBS - 1; column++) {
    const total = f.i64(sum([...columns(column), carry]));
    f.set(carry, i64.shrS(total, BITS));
    f.set(total, i64.and(total, MASK));
    high.push(total);
  }
  high.push(carry);
  const rest = f.i64(0n);
  const low = indexes().map((column) => {
    const terms = [...columns(column), i64.mul(high[column]!, 31264n)];
    if (column > 0) terms.push(i64.shl(high[column - 1]!, 8n), rest);
    const isTop = column === LIMBS - 1;
    if (isTop) terms.push(i64.shl(high[column]!, 8n + BITS));
    if (addend) terms.push(addend[column]!);
    const limb = f.i64(sum(terms));
    f.set(rest, i64.shrS(limb, isTop ? TOP_BITS : BITS));
    f.set(limb, i64.and(limb, isTop ? TOP_MASK : MASK));
    return limb;
  });
  // 2^256 is 2^32 + 977.
  const [first, second, third] = low as [Local, Local, Local];
  f.set(first, i64.add(first, i64.mul(rest, 977n)));
  f.set(second, sum([second, i64.shl(rest, 32n - BITS), i64.shrS(first, BITS)]));
  f.set(first, i64.and(first, MASK));
  f.set(third, i64.add(third, i64.shrS(second, BITS)));
  f.set(second, i64.and(second, MASK));
  return low;
}

/** 1 for a carried element that is 0 modulo the prime: 0 or the prime, the only multiples in range. */
export function isZero(x: Element): Operand {
  const isValue = (value: Element) =>
    i64.eqz(x.map((limb, i): Operand => i64.xor(limb, value[i]!)).reduce((a, b) => i64.or(a, b)));
  return i32.or(isValue(constant(0n)), isValue(constant(PRIME)));
}

/** Reduces carried limbs to the canonical form of a number below the prime. */
export function canonical(f: FunctionBuilder, x: Element): Local[] {
  // Adding 2^32 + 977 overflows 2^256 exactly for numbers from the prime on. Done twice, since the number may be negative or above 2^256.
  const limbs = x.map((limb) => f.i64(limb));
  const carry = f.i64(0n);
  const carryAll = () => {
    f.set(carry, 0n);
    limbs.forEach((limb, i) => {
      const isTop = i === LIMBS - 1;
      f.set(limb, i64.add(limb, carry));
      f.set(carry, i64.shrS(limb, isTop ? TOP_BITS : BITS));
      f.set(limb, i64.and(limb, isTop ? TOP_MASK : MASK));
    });
  };
  const addFold = (factor: Operand) => {
    f.set(limbs[0]!, i64.add(limbs[0]!, i64.mul(factor, 977n)));
    f.set(limbs[1]!, i64.add(limbs[1]!, i64.shl(factor, 32n - BITS)));
  };
  carryAll();
  addFold(carry);
  carryAll();
  addFold(carry);
  // Below 2^256 now: subtracts the prime if the number plus 2^32 + 977 overflows 2^256, by dropping that bit.
  addFold(1n);
  carryAll();
  const passed = f.i64(carry);
  addFold(i64.sub(passed, 1n));
  carryAll();
  return limbs;
}

/** Reads 32 bytes, least significant first, at `address`. */
export function decode(address: Operand): Element {
  return indexes().map((i) => {
    const bit = Number(BITS) * i;
    // The last limb starts at byte 29, whose 64-bit word would extend past the number.
    const [offset, shift] = i === LIMBS - 1 ? [24, bit - 192] : [bit >> 3, bit & 7];
    const word = i64.shrU(i64.load(address, offset), BigInt(shift));
    return i === LIMBS - 1 ? word : i64.and(word, MASK);
  });
}

/** Writes canonical limbs as 32 bytes, least significant first. */
export function encode(f: FunctionBuilder, address: Operand, limbs: Element): void {
  for (let word = 0; word < 4; word++) {
    const parts = indexes().flatMap((i): Operand[] => {
      const shift = Number(BITS) * i - 64 * word;
      if (shift <= -Number(BITS) || shift >= 64) return [];
      return [shift < 0 ? i64.shrU(limbs[i]!, BigInt(-shift)) : i64.shl(limbs[i]!, BigInt(shift))];
    });
    f.do(
      i64.store(
        address,
        parts.reduce((a, b) => i64.or(a, b)),
        8 * word,
      ),
    );
  }
}

function productTerms(x: Element, y: Element, column: number): Operand[] {
  return pairs(column).map(([i, j]) => i64.mul(x[i]!, y[j]!));
}

/** The pairs of limbs whose product is in `column`. */
function pairs(column: number): [number, number][] {
  return indexes()
    .map((i): [number, number] => [i, column - i])
    .filter(([, j]) => j >= 0 && j < LIMBS);
}

function sum(values: readonly Operand[]): Operand {
  return values.reduce((total, value) => i64.add(total, value));
}

function indexes(): number[] {
  return Array.from({ length: LIMBS }, (_, i) => i);
}

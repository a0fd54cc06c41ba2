/** value⁻¹ modulo the prime `modulus`, by the extended Euclidean algorithm; `value` is from 1 to modulus − 1. Not in constant time. */
export function invertModulo(value: bigint, modulus: bigint): bigint {
  let [a, b] = [modulus, value];
  let [x, y] = [0n, 1n];
  while (b !== 0n) {
    const quotient = a / b;
    [a, b] = [b, a - quotient * b];
    [x, y] = [y, x - quotient * y];
  }
  return x < 0n ? x + modulus : x;
}

/** base^exponent modulo `modulus`. Not in constant time. */
export function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** The inverses modulo the prime `modulus` of `values`, none 0, with one inversion and three multiplications each (Montgomery's trick). */
export function invertAllModulo(values: readonly bigint[], modulus: bigint): bigint[] {
  const inverses: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    inverses.push(product);
    product = (product * value) % modulus;
  }
  let inverse = invertModulo(product, modulus);
  for (let i = values.length - 1; i >= 0; i--) {
    inverses[i] = (inverses[i]! * inverse) % modulus;
    inverse = (inverse * values[i]!) % modulus;
  }
  return inverses;
}

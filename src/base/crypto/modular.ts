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

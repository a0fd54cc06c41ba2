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

import { MODULUS } from "./curve.ts";

/** γ⁰ to γ⁵ in Fp2, for γ = ξ^((p − 1) / 6) with ξ = 1 + i: the p-th power of w is γ·w. */
export function frobeniusConstants(): (readonly [bigint, bigint])[] {
  const base = frobeniusConstant();
  const powers: (readonly [bigint, bigint])[] = [[1n, 0n]];
  while (powers.length < 6) powers.push(multiply(powers.at(-1)!, base));
  return powers;
}

function frobeniusConstant(): [bigint, bigint] {
  let result: [bigint, bigint] = [1n, 0n];
  for (const bit of ((MODULUS - 1n) / 6n).toString(2)) {
    result = multiply(result, result);
    if (bit === "1") result = multiply(result, [1n, 1n]);
  }
  return result;
}

function multiply(
  [a, b]: readonly [bigint, bigint],
  [c, d]: readonly [bigint, bigint],
): [bigint, bigint] {
  return [(a * c + (MODULUS - b) * d) % MODULUS, (a * d + b * c) % MODULUS];
}

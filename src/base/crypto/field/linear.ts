import { invariant } from "../../errors.ts";
import { type Code, i64, type Operand } from "../../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../wasm/function.ts";
import type { ModuleBuilder } from "../../wasm/module.ts";
import { type FieldShape, LIMB_BITS, limbsOf } from "./shape.ts";

/** `factor` times coefficient `part` of operand `of`: parts are elements of the prime field in a row. */
export type Term = { readonly factor: number; readonly of: number; readonly part: number };

/** Part `part` of operand `of`, `factor` times. */
export function plus(of: number, part = 0, factor = 1): Term {
  return { factor, of, part };
}

export function minus(of: number, part = 0, factor = 1): Term {
  return { factor: -factor, of, part };
}

/** Maximum sum of an output's factors, which bounds the estimate of its quotient. */
const FACTORS_MAX = 24;
/** Bits after the point of 1 / p in units of the highest limb. */
const INVERSE_BITS = 40n;

/**
 * linear(to, ...operands): part n of the result is the sum of `outputs[n]`, and below 2p like all elements. Each limb is visited once: the
 * highest limbs determine, within a thousandth, by how many p the sum exceeds p/2, and that multiple is subtracted on the way. The result may
 * replace an operand, but not overlap it otherwise.
 */
export function defineLinear(
  module: ModuleBuilder,
  shape: FieldShape,
  operands: number,
  outputs: readonly (readonly Term[])[],
): FunctionRef {
  const { limbs, size } = shape;
  for (const terms of outputs) {
    const factors = terms.reduce((sum, { factor }) => sum + Math.abs(factor), 0);
    invariant(factors <= FACTORS_MAX, "the sum is below 48p");
  }
  return module.define(
    Array.from({ length: 1 + operands }, () => "i32"),
    [],
    (f, to, ...from) => {
      const sumOf = (terms: readonly Term[], limb: number): Operand =>
        sum(terms.map(({ factor, of, part }) => ({ factor, value: i64.load(from[of]!, part * size + 8 * limb) })));
      const quotients = outputs.map((terms) => f.i64(quotient(f, shape, sumOf(terms, limbs - 1))));
      const carries = outputs.map(() => f.i64(0n));
      const modulus = limbsOf(shape.modulus, limbs);
      for (let i = 0; i < limbs; i++) {
        f.scope(() => {
          // Loads everything before anything may be replaced.
          const sums = outputs.map((terms) => f.i64(sumOf(terms, i)));
          sums.forEach((value, n) => {
            const carry = carries[n]!;
            const rest = modulus[i] === 0n ? value : i64.sub(value, i64.mul(quotients[n]!, modulus[i]!));
            const limb = f.i64(i === 0 ? rest : i64.add(rest, carry));
            if (i < limbs - 1) f.set(carry, i64.shrS(limb, BigInt(LIMB_BITS)));
            f.do(i64.store(to!, i64.and(limb, (1n << BigInt(LIMB_BITS)) - 1n), n * size + 8 * i));
          });
        });
      }
    },
  );
}

/** The multiple of p to subtract from a number with this highest limb, so that between p/4 and 3p/2 remain. */
function quotient(f: FunctionBuilder, { modulus, limbs }: FieldShape, highest: Operand): Operand {
  const unit = 1n << BigInt(LIMB_BITS * (limbs - 1));
  const inverse = ((1n << INVERSE_BITS) * unit) / modulus;
  const half = modulus / (2n * unit);
  return i64.shrS(i64.mul(f.i64(i64.sub(highest, half)), inverse), INVERSE_BITS);
}

function sum(terms: readonly { readonly factor: number; readonly value: Operand }[]): Operand {
  const times = (value: Operand, factor: number) => (factor === 1 ? value : i64.mul(value, BigInt(factor)));
  return terms
    .slice(1)
    .reduce<Operand>(
      (total, { factor, value }) =>
        factor < 0 ? i64.sub(total, times(value, -factor)) : i64.add(total, times(value, factor)),
      times(terms[0]!.value, terms[0]!.factor),
    );
}

/** `factor` times an element; in Fp2, also times ξ if `XI` follows. */
export type SumTerm = readonly [factor: number, of: Operand, xi?: typeof XI | undefined];
export const XI = "ξ";

export type Combine = (to: Operand, ...terms: readonly SumTerm[]) => Code;

/**
 * Sums of a field. Each kind of sum is a function that is defined on first use.
 * @param degree of the field over the prime field, 1 or 2
 * @param xi ξ as a + b·i, if terms are multiplied by it
 */
export function defineSums(
  module: ModuleBuilder,
  shape: FieldShape,
  degree: 1 | 2,
  xi?: readonly [re: number, im: number],
): Combine {
  const functions = new Map<string, FunctionRef>();
  const define = (terms: readonly SumTerm[]) => {
    const product = (part: number, [factor, , by]: SumTerm, of: number): Term[] => {
      if (by === undefined) return [{ factor, of, part }];
      invariant(xi, "terms are multiplied by ξ where there is one");
      const own = { factor: factor * xi[0], of, part };
      return [own, { factor: factor * (part === 0 ? -xi[1] : xi[1]), of, part: 1 - part }];
    };
    const parts = degree === 1 ? [0] : [0, 1];
    const outputs = parts.map((part) => terms.flatMap((term, of) => product(part, term, of)));
    return defineLinear(module, shape, terms.length, outputs);
  };
  return (to, ...terms) => {
    const kind = terms.map(([factor, , by = ""]) => `${factor}${by}`).join(" ");
    const ref = functions.get(kind) ?? define(terms);
    functions.set(kind, ref);
    return call(ref, to, ...terms.map(([, of]) => of));
  };
}

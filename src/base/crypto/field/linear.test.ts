import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { ModuleBuilder } from "../../wasm/module.ts";
import { MODULUS as BLS } from "../bls12-381/curve.ts";
import { defineLinear, defineSums, minus, plus, type Term, XI } from "./linear.ts";
import { fieldShape, LIMB_BITS } from "./shape.ts";

const P256 = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;

/** The sums that fields are made of, and those with the most and the largest terms. */
const OUTPUTS: readonly (readonly Term[])[][] = [
  [[plus(0), plus(1)]],
  [[plus(0), minus(1)]],
  [[minus(0)]],
  [[plus(0, 0, 12), plus(1, 0, 12)]],
  [[minus(0, 0, 12), minus(1, 0, 12)]],
  [[plus(0, 0, 24)]],
  [[minus(0, 0, 24)]],
  [
    [plus(0), minus(0, 1)],
    [plus(0), plus(0, 1)],
  ],
  [
    [plus(0, 0, 9), minus(0, 1, 9), plus(1, 0, 2)],
    [plus(0, 0, 9), plus(0, 1, 9), plus(1, 1, 2)],
  ],
];

for (const [name, modulus] of Object.entries({ BLS, P256 })) {
  const shape = fieldShape(modulus);
  const operandSize = 2 * shape.size;
  /** All values that elements can have, with those at both ends, at multiples of p and around powers of two. */
  const element = fc.oneof(
    fc.bigInt(0n, 2n * modulus - 1n),
    fc.bigInt(0n, 3n),
    fc.bigInt(2n * modulus - 4n, 2n * modulus - 1n),
    fc.bigInt(modulus - 2n, modulus + 2n),
    fc
      .tuple(fc.nat(shape.limbs * LIMB_BITS), fc.bigInt(-2n, 2n))
      .map(([bit, delta]) => ((1n << BigInt(bit)) + delta + 2n * modulus) % (2n * modulus)),
  );

  OUTPUTS.forEach((outputs, n) => {
    test(`sum ${n} of elements of ${name} is congruent and below 2p, also over its first operand`, () => {
      const module = new ModuleBuilder();
      module.export("sum", defineLinear(module, shape, 2, outputs));
      const { sum, read, write } = instantiate(module);
      fc.assert(
        fc.property(fc.tuple(element, element, element, element), (values) => {
          for (const to of [0, 2 * operandSize]) {
            values.forEach((value, i) => {
              write(i * shape.size, value);
            });
            sum(to, 0, operandSize);
            outputs.forEach((terms, part) => {
              const expected = terms.reduce(
                (total, each) => total + BigInt(each.factor) * values[2 * each.of + each.part]!,
                0n,
              );
              const result = read(to + part * shape.size);
              assert.ok(result >= 0n && result < 2n * modulus);
              assert.equal((result - expected) % modulus, 0n);
            });
          }
        }),
        { numRuns: 300 },
      );
    });
  });

  /** The functions of `module`, and elements of its memory. */
  function instantiate(module: ModuleBuilder) {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const imports = { host: { memory } };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), imports);
    const words = new BigUint64Array(memory.buffer);
    return {
      sum: exports["sum"] as (to: number, ...operands: number[]) => void,
      write(address: number, value: bigint): void {
        for (let i = 0; i < shape.limbs; i++) {
          words[address / 8 + i] = (value >> BigInt(LIMB_BITS * i)) & ((1n << BigInt(LIMB_BITS)) - 1n);
        }
      },
      read(address: number): bigint {
        let value = 0n;
        for (let i = shape.limbs - 1; i >= 0; i--) {
          const limb = words[address / 8 + i]!;
          assert.ok(limb >> BigInt(LIMB_BITS) === 0n);
          value = (value << BigInt(LIMB_BITS)) | limb;
        }
        return value;
      },
    };
  }
}

test("a sum in Fp2 multiplies by ξ the terms that are marked, whatever was defined before", () => {
  const shape = fieldShape(BLS);
  const one = [2n, 3n];
  for (const [re, im] of [
    [1, 1],
    [5, -2],
  ] as const) {
    const module = new ModuleBuilder();
    const combine = defineSums(module, shape, 2, [re, im]);
    const kinds = [[], [XI]] as const;
    kinds.forEach(([xi], i) => {
      const define = module.define(["i32"], [], (f, to) => f.do(combine(to!, [2, to!], [-1, to!, xi])));
      module.export(`combine${i}`, define);
    });
    const memory = new WebAssembly.Memory({ initial: 1 });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), { host: { memory } });
    const words = new BigUint64Array(memory.buffer);
    kinds.forEach(([xi], i) => {
      words.fill(0n);
      one.forEach((value, part) => {
        words[part * shape.limbs] = value;
      });
      (exports[`combine${i}`] as (to: number) => void)(0);
      const [a, b] = one as [bigint, bigint];
      const product = xi ? [a * BigInt(re) - b * BigInt(im), a * BigInt(im) + b * BigInt(re)] : [a, b];
      product.forEach((value, part) => {
        const limbs = words.subarray(part * shape.limbs, (part + 1) * shape.limbs);
        const result = limbs.reduceRight((sum, limb) => (sum << BigInt(LIMB_BITS)) | limb, 0n);
        assert.equal((result - 2n * one[part]! + value) % BLS, 0n);
      });
    });
  }
});

test("a sum of more terms than its quotient is estimated for is not emitted", () => {
  assert.throws(() => defineLinear(new ModuleBuilder(), fieldShape(BLS), 2, [[plus(0, 0, 24), plus(1)]]));
});

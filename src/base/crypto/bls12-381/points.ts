import { i32, memory as linear, type Operand } from "../../wasm/code.ts";
import { call, type FunctionBuilder } from "../../wasm/function.ts";
import { ModuleBuilder } from "../../wasm/module.ts";
import type { Checkpoint } from "../checkpoint.ts";
import { defineField, type FieldFunctions } from "../field/field.ts";
import { FieldSpace } from "../field/field-memory.ts";
import { firstTerm, type MsmGroup, msmMemory, multiScalarMultiply, TERM_COORDINATES } from "../field/msm.ts";
import { definePoints, POINT_SCRATCH } from "../field/points.ts";
import { defineQuadratic } from "../field/tower.ts";
import { COORDINATE_LENGTH, ENCODED_LENGTH, MODULUS, ORDER, PADDING, X } from "./curve.ts";

/**
 * Subgroup checks and multi-scalar multiplication of BLS12-381 in emitted WebAssembly, two to three times as fast as mcl's
 * (bench/micro/precompiles.ts, ADR 21). Points have EIP-2537's encoding.
 */
type BlsGroup = {
  /** Whether the point at `offset` of `bytes`, which is on the curve and not infinity, is in the subgroup. */
  isInSubgroup(bytes: Uint8Array, offset: number): boolean;
  /**
   * Σ scalar · point, in Jacobian coordinates: x ‖ y ‖ z, each encoded as a coordinate is. z = 0 is infinity.
   * @param terms points of the subgroup other than infinity, as offsets into `bytes`, and their scalars
   */
  multiply(
    bytes: Uint8Array,
    terms: readonly { readonly offset: number; readonly scalar: bigint }[],
    checkpoint: Checkpoint,
  ): Uint8Array;
};

export type BlsGroups = { readonly g1: BlsGroup; readonly g2: BlsGroup };

/** A cube root of one: φ(x, y) = (βx, y) multiplies the points of G1 by −X². */
const BETA = 0x5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffen;
/** (1 + i)^((1 − p) / 3), whose real part is 0, and (1 + i)^((1 − p) / 2): ψ(x, y) = (PSI_X · x̄, PSI_Y · ȳ) multiplies the points of G2 by −X. */
const PSI_X: readonly [bigint, bigint] = [
  0n,
  0x1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000aaadn,
];
const PSI_Y: readonly [bigint, bigint] = [
  0x135203e60180a68ee2e9c448d77a2cd91c3dedd930b1cf60ef396489f61eb45e304466cf3e67fa0af1ee7b04121bdea2n,
  0x6af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e77f76e17009241c5ee67992f72ec05f4c81084fbede3cc09n,
];

/** Points multiplied together; more are split into portions to bound memory. */
const PORTION = 256;

let groups: BlsGroups | undefined;

/** Both groups; emitted and compiled at the first call. */
export function blsGroups(): BlsGroups {
  groups ??= createGroups();
  return groups;
}

function createGroups(): BlsGroups {
  const space = new FieldSpace(MODULUS);
  const { shape } = space;
  const { size } = shape;
  const reserve = (elements: number) => space.reserve(elements);
  const one = reserve(2);
  const [beta, psiX, psiY] = [reserve(1), reserve(2), reserve(2)];
  const pointScratch = reserve(2 * POINT_SCRATCH);
  const zero = reserve(2);
  const term = reserve(2 * TERM_COORDINATES);
  const image = reserve(2 * TERM_COORDINATES);
  const result = reserve(2 * 3);
  const work = reserve(msmMemory({ size: 2 * size, digits: 4 }, PORTION) / size);

  const module = new ModuleBuilder();
  const fp = defineField(module, shape);
  const fp2 = defineQuadratic(module, shape, fp);
  module.export("mul", fp.mul);
  module.export("reduce", fp.reduce);
  const coordinate = (term: Operand, n: number, { size }: FieldFunctions) => i32.add(term, n * size);
  defineGroup(module, "g1", fp, { scratch: pointScratch, one, zero }, (f, to, from) => {
    f.do(
      call(fp.mul, to, from, beta),
      linear.copy(coordinate(to, 1, fp), coordinate(from, 3, fp), size),
      linear.copy(coordinate(to, 2, fp), coordinate(from, 2, fp), size),
      linear.copy(coordinate(to, 3, fp), coordinate(from, 1, fp), size),
    );
  });
  defineGroup(module, "g2", fp2, { scratch: pointScratch, one, zero }, (f, to, from) => {
    const conjugate = (n: number, m: number) => {
      const [target, source] = [coordinate(to, n, fp2), coordinate(from, m, fp2)];
      f.do(linear.copy(target, source, size), call(fp.sub, i32.add(target, size), zero, i32.add(source, size)));
    };
    conjugate(0, 0);
    conjugate(1, 3);
    conjugate(2, 2);
    conjugate(3, 1);
    f.do(
      call(fp2.mul, to, to, psiX),
      call(fp2.mul, coordinate(to, 1, fp2), coordinate(to, 1, fp2), psiY),
      call(fp2.mul, coordinate(to, 3, fp2), coordinate(to, 3, fp2), psiY),
    );
  });

  const { wasm: exports, field, bytes } = space.instantiate(module, COORDINATE_LENGTH);
  field.set(one, 1n);
  field.set(beta, BETA);
  PSI_X.forEach((part, i) => {
    field.set(psiX + i * size, part);
  });
  PSI_Y.forEach((part, i) => {
    field.set(psiY + i * size, part);
  });

  function createGroup(name: "g1" | "g2", degree: 1 | 2, base: bigint, digits: number): BlsGroup {
    const group: MsmGroup = {
      size: degree * size,
      double: exports[`${name}.double`]!,
      add: exports[`${name}.add`]!,
      addAffine: exports[`${name}.addAffine`]!,
      endomorphism: exports[`${name}.endomorphism`]!,
      negate: exports[`${name}.negate`]!,
      base,
      digits,
      order: ORDER,
      clear: (address, length) => bytes.fill(0, address, address + length),
      copy: (to, from, length) => bytes.copyWithin(to, from, from + length),
    };
    const equalsAffine = exports[`${name}.equalsAffine`]!;
    const readTerm = (address: number, input: Uint8Array, offset: number) => {
      for (let i = 0; i < 2 * degree; i++) {
        field.read(address + i * size, input, offset + i * ENCODED_LENGTH + PADDING);
      }
      group.copy(address + 2 * group.size, one, group.size);
      group.negate(address);
    };
    return {
      isInSubgroup(input, offset) {
        readTerm(term, input, offset);
        // `image` must equal the point times `base` (Scott, "A note on group membership tests", 2021).
        group.endomorphism(image, term);
        multiplyByX(group, result, term);
        if (degree === 1) {
          group.copy(term, result, 3 * group.size);
          multiplyByX(group, result, term);
        }
        return equalsAffine(result, image, image + group.size) === 1;
      },
      multiply(input, terms, checkpoint) {
        group.clear(result, 3 * group.size);
        const first = firstTerm(group, work);
        for (let i = 0; i < terms.length; i += PORTION) {
          const portion = terms.slice(i, i + PORTION);
          portion.forEach(({ offset }, j) => {
            readTerm(first + j * TERM_COORDINATES * group.size, input, offset);
          });
          const scalars = portion.map(({ scalar }) => scalar);
          multiScalarMultiply(group, result, scalars, work, checkpoint);
        }
        const out = new Uint8Array(3 * degree * ENCODED_LENGTH);
        for (let i = 0; i < 3 * degree; i++) {
          field.write(result + i * size, out, i * ENCODED_LENGTH + PADDING);
        }
        return out;
      },
    };
  }
  return {
    g1: createGroup("g1", 1, X * X, 2),
    g2: createGroup("g2", 2, X, 4),
  };
}

/** result = X · p for the point at `p`, in Jacobian coordinates; X has few bits set. */
function multiplyByX(group: MsmGroup, result: number, p: number): void {
  group.copy(result, p, 3 * group.size);
  for (let bit = 62n; bit >= 0n; bit--) {
    group.double(result, result);
    if ((X >> bit) & 1n) group.add(result, result, p, p + group.size);
  }
}

/** Defines and exports the functions of one group as `NAME.double` and so on. */
function defineGroup(
  module: ModuleBuilder,
  name: string,
  field: FieldFunctions,
  { scratch, one, zero }: { scratch: number; one: number; zero: number },
  endomorphism: (f: FunctionBuilder, to: Operand, from: Operand) => void,
): void {
  const points = definePoints(module, field, scratch, one);
  for (const [key, ref] of Object.entries(points)) module.export(`${name}.${key}`, ref);
  module.export(
    `${name}.endomorphism`,
    module.define(["i32", "i32"], [], (f, to, from) => endomorphism(f, to!, from!)),
  );
  const y = (term: Operand) => i32.add(term, field.size);
  module.export(
    `${name}.negate`,
    module.define(["i32"], [], (f, term) => f.do(call(field.sub, i32.add(term!, 3 * field.size), zero, y(term!)))),
  );
}

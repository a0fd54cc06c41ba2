import { bytesToBigint } from "../../primitives/bytes.ts";
import { compileModule } from "../../wasm/compile.ts";
import { ModuleBuilder } from "../../wasm/module.ts";
import type { Checkpoint } from "../checkpoint.ts";
import { fieldShape } from "../field/field.ts";
import { fieldConstantsSize, fieldMemory } from "../field/field-memory.ts";
import { invertModulo } from "../modular.ts";
import { COORDINATE_LENGTH, ENCODED_LENGTH, MODULUS, PADDING, X } from "./curve.ts";
import { frobeniusConstants } from "./frobenius.ts";
import { definePairing, PAIRING_SCRATCH } from "./pairing-functions.ts";

/** A point of G2 with the lines of its Miller loop computed beforehand. */
export type FixedG2 = { readonly lines: number };

/**
 * Products of optimal ate pairings on BLS12-381 in emitted WebAssembly. Points are encoded as in EIP-2537, of their subgroup, and
 * not infinity.
 */
export type BlsPairing = {
  /** True when Π e(P, Q) is one for the pairs P ‖ Q at `offsets` of `bytes`. */
  isOne(bytes: Uint8Array, offsets: readonly number[], checkpoint: Checkpoint): boolean;
  /** Π e(P, Q) is one for the points P in a row in `bytes` and the fixed points Q. */
  isOneFixed(bytes: Uint8Array, fixed: readonly FixedG2[]): boolean;
  /** Computes the lines of the point at the start of `bytes`; they are never freed. */
  fix(bytes: Uint8Array): FixedG2;
};

const X_BITS = X.toString(2).slice(1);
/** Doublings and additions of a Miller loop. */
const LINES = [...X_BITS].reduce((sum, bit) => sum + 1 + Number(bit), 0);
/** Pairs whose Miller loops share their squarings. */
const PORTION = 32;
const FIXED_MAX = 3;
const G1_LENGTH = 128;
const PAGE = 0x10000;

let pairing: BlsPairing | undefined;

/** Emitted and compiled at the first call. */
export function blsPairing(): BlsPairing {
  pairing ??= createPairing();
  return pairing;
}

type Wasm = Readonly<Record<keyof ReturnType<typeof definePairing>, (...at: number[]) => number>>;

/** One function, because the addresses it reserves and the module over them belong together. */
function createPairing(): BlsPairing {
  const shape = fieldShape(MODULUS);
  const { size } = shape;
  const size2 = 2 * size;
  const size12 = 12 * size;
  let top = 0;
  const reserve = (elements: number) => {
    const address = top;
    top += elements * size;
    return address;
  };
  const constants = reserve(fieldConstantsSize(shape) / size);
  const scratch = reserve(1 + 2 * PAIRING_SCRATCH);
  const zero = reserve(12);
  const gammas = reserve(2 * 6);
  const line = reserve(6);
  const [f, product, a, b, c, power] = Array.from({ length: 6 }, () => reserve(12)) as [
    ...[number, number, number],
    ...[number, number, number],
  ];
  /** For each pair the coordinates x, y of P, then x, y of Q, then the running point in homogeneous coordinates. */
  const pairSize = (2 + 4 + 6) * size;
  const pairs = reserve(PORTION * 12);
  let nextLines = reserve(FIXED_MAX * LINES * 6);

  const module = new ModuleBuilder();
  const functions = definePairing(module, shape, { scratch, zero, gammas });
  for (const [name, ref] of Object.entries(functions)) module.export(name, ref);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(top / PAGE) });
  const instance = new WebAssembly.Instance(compileModule(module.bytes()), {
    host: { memory },
  });
  const wasm = instance.exports as Wasm;
  const field = fieldMemory(shape, COORDINATE_LENGTH, memory, constants, wasm);
  const bytes = new Uint8Array(memory.buffer);
  const copy = (to: number, from: number, length: number) =>
    bytes.copyWithin(to, from, from + length);
  const setOne = (to: number) => {
    bytes.fill(0, to, to + size12);
    field.set(to, 1n);
  };
  frobeniusConstants().forEach((gamma, i) => {
    gamma.forEach((part, j) => {
      field.set(gammas + i * size2 + j * size, part);
    });
  });

  const readPoint = (to: number, input: Uint8Array, offset: number, elements: number) => {
    for (let i = 0; i < elements; i++) {
      field.read(to + i * size, input, offset + i * ENCODED_LENGTH + PADDING);
    }
  };
  const setUp = (q: number) => {
    copy(q + 2 * size2, q, 2 * size2);
    bytes.fill(0, q + 4 * size2, q + 5 * size2);
    field.set(q + 4 * size2, 1n);
  };
  /** Calls `double` for each bit of X after the first, then `add` where the bit is set. */
  const eachStep = (double: () => void, add: () => void) => {
    for (const bit of X_BITS) {
      double();
      if (bit === "1") add();
    }
  };

  /** to = the values of the lines of `count` pairs multiplied up, before the final exponentiation. */
  function millerLoop(to: number, count: number, checkpoint: Checkpoint): void {
    setOne(to);
    const each = (step: (q: number) => void) => {
      for (let p = pairs; p < pairs + count * pairSize; p += pairSize) {
        step(p + size2);
        wasm.multiplyLine(to, line, p);
      }
    };
    eachStep(
      () => {
        checkpoint();
        wasm.sqr12(to, to);
        each((q) => wasm.doubleStep(line, q + 2 * size2));
      },
      () => each((q) => wasm.addStep(line, q + 2 * size2, q)),
    );
  }

  /** to = 1 / from in Fp12 */
  function invert(to: number, from: number): void {
    // The norm to Fp6 is n = c0² − v·c1², that to Fp2 then m, that to Fp a number.
    const upper = from + 6 * size;
    const [n, adjugate, t] = [product, power, line] as const;
    wasm.mul6(n, from, from);
    wasm.mul6(adjugate, upper, upper);
    wasm.mulByV(adjugate, adjugate);
    wasm.sub6(n, n, adjugate);
    const [n0, n1, n2] = [n, n + size2, n + 2 * size2];
    const [m0, m1, m2] = [adjugate, adjugate + size2, adjugate + 2 * size2];
    wasm.mul2(t, n1, n2);
    wasm.mulByXi(t, t);
    wasm.mul2(m0, n0, n0);
    wasm.sub2(m0, m0, t);
    wasm.mul2(t, n0, n1);
    wasm.mul2(m1, n2, n2);
    wasm.mulByXi(m1, m1);
    wasm.sub2(m1, m1, t);
    wasm.mul2(t, n0, n2);
    wasm.mul2(m2, n1, n1);
    wasm.sub2(m2, m2, t);
    // n · adjugate is of Fp2.
    wasm.mul6(n, n, adjugate);
    const encoded = new Uint8Array(size2);
    field.write(n, encoded, 0);
    field.write(n + size, encoded, COORDINATE_LENGTH);
    const re = bytesToBigint(encoded.subarray(0, COORDINATE_LENGTH));
    const im = bytesToBigint(encoded.subarray(COORDINATE_LENGTH, 2 * COORDINATE_LENGTH));
    const inverse = invertModulo((re * re + im * im) % MODULUS, MODULUS);
    field.set(t, (re * inverse) % MODULUS);
    field.set(t + size, ((MODULUS - im) * inverse) % MODULUS);
    for (const m of [m0, m1, m2]) wasm.mul2(m, m, t);
    wasm.conjugate(to, from);
    wasm.mul6(to, to, adjugate);
    wasm.mul6(to + 6 * size, to + 6 * size, adjugate);
  }

  /** to = from^(−X) in the cyclotomic subgroup, where the conjugate is the inverse; `to` is not `from`. */
  function raise(to: number, from: number): void {
    copy(power, from, size12);
    eachStep(
      () => wasm.cyclotomicSqr(power, power),
      () => wasm.mul12(power, power, from),
    );
    wasm.conjugate(to, power);
  }

  /** True when f^((p¹² − 1) / r) is one. */
  function isOneAfterFinalExponentiation(checkpoint: Checkpoint): boolean {
    // (p⁶ − 1)(p² + 1)
    invert(a, f);
    wasm.conjugate(f, f);
    wasm.mul12(f, f, a);
    wasm.frobenius(a, f);
    wasm.frobenius(a, a);
    wasm.mul12(f, f, a);
    // 3·(p⁴ − p² + 1) / r = (x − 1)²·(x + p)·(x² + p² − 1) + 3 (Hayashida, Hayasaka and Teruya, 2020); the factor 3 is prime to r.
    checkpoint();
    copy(a, f, size12);
    for (let i = 0; i < 2; i++) {
      raise(b, a);
      wasm.conjugate(a, a);
      wasm.mul12(a, a, b);
    }
    raise(b, a);
    wasm.frobenius(a, a);
    wasm.mul12(a, a, b);
    raise(b, a);
    raise(c, b);
    wasm.frobenius(b, a);
    wasm.frobenius(b, b);
    wasm.mul12(b, b, c);
    wasm.conjugate(a, a);
    wasm.mul12(b, b, a);
    wasm.cyclotomicSqr(a, f);
    wasm.mul12(a, a, f);
    wasm.mul12(b, b, a);
    return wasm.isOne(b) === 1;
  }

  field.set(zero, 0n);
  return {
    isOne(input, offsets, checkpoint) {
      setOne(f);
      for (let i = 0; i < offsets.length; i += PORTION) {
        const portion = offsets.slice(i, i + PORTION);
        portion.forEach((offset, j) => {
          const p = pairs + j * pairSize;
          readPoint(p, input, offset, 2);
          readPoint(p + size2, input, offset + G1_LENGTH, 4);
          setUp(p + size2);
        });
        millerLoop(product, portion.length, checkpoint);
        wasm.mul12(f, f, product);
      }
      return isOneAfterFinalExponentiation(checkpoint);
    },
    isOneFixed(input, fixed) {
      fixed.forEach((_, i) => {
        readPoint(pairs + i * pairSize, input, i * G1_LENGTH, 2);
      });
      setOne(f);
      let step = 0;
      const each = () => {
        fixed.forEach(({ lines }, i) => {
          wasm.multiplyLine(f, lines + step * 6 * size, pairs + i * pairSize);
        });
        step++;
      };
      eachStep(() => {
        wasm.sqr12(f, f);
        each();
      }, each);
      return isOneAfterFinalExponentiation(() => {});
    },
    fix(input) {
      const lines = nextLines;
      const q = pairs + size2;
      readPoint(q, input, 0, 4);
      setUp(q);
      const store = () => {
        copy(nextLines, line, 6 * size);
        nextLines += 6 * size;
      };
      eachStep(
        () => {
          wasm.doubleStep(line, q + 2 * size2);
          store();
        },
        () => {
          wasm.addStep(line, q + 2 * size2, q);
          store();
        },
      );
      return { lines };
    },
  };
}

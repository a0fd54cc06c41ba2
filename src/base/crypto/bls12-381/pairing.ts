import { invariant } from "../../errors.ts";
import { bytesToBigint } from "../../primitives/bytes.ts";
import { ModuleBuilder } from "../../wasm/module.ts";
import type { Checkpoint } from "../checkpoint.ts";
import { type FieldMemory, FieldSpace } from "../field/field-memory.ts";
import { fieldShape } from "../field/shape.ts";
import { invertModulo } from "../modular.ts";
import { COORDINATE_LENGTH, ENCODED_LENGTH, MODULUS, PADDING, X } from "./curve.ts";
import { definePairing, PAIRING_SCRATCH } from "./pairing-functions.ts";

/** A point of G2 with the precomputed lines of its Miller loop. */
export type FixedG2 = { readonly lines: number };

/**
 * Products of optimal ate pairings on BLS12-381 in emitted WebAssembly. Points have EIP-2537's encoding; they must be in their subgroup and not
 * infinity.
 */
export type BlsPairing = {
  /** Whether Π e(P, Q) is one for the pairs P ‖ Q at `offsets` of `bytes`. */
  isOne(bytes: Uint8Array, offsets: readonly number[], checkpoint: Checkpoint): boolean;
  /** Whether Π e(P, Q) is one for the consecutive points P in `bytes` and the fixed points Q. */
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
const { size: SIZE } = fieldShape(MODULUS);
const SIZE2 = 2 * SIZE;
const SIZE12 = 12 * SIZE;
/** c1 and c2 of a line whose c0 is one. */
const FIXED_LINE_SIZE = 2 * SIZE2;
const PAIR_SIZE = (2 + 4 + 6) * SIZE;

let pairing: BlsPairing | undefined;

/** Emitted and compiled at the first call. */
export function blsPairing(): BlsPairing {
  pairing ??= new Pairing();
  return pairing;
}

type Wasm = Readonly<Record<keyof ReturnType<typeof definePairing>, (...at: number[]) => number>>;

/** Addresses and functions of the emitted module. */
class Pairing implements BlsPairing {
  readonly #line: number;
  readonly #f: number;
  readonly #product: number;
  readonly #a: number;
  readonly #b: number;
  readonly #c: number;
  readonly #power: number;
  /** For each pair the coordinates x, y of P, then x, y of Q, then the running point in homogeneous coordinates. */
  readonly #pairs: number;
  #nextLines: number;
  readonly #wasm: Wasm;
  readonly #field: FieldMemory;
  readonly #bytes: Uint8Array;

  constructor() {
    const space = new FieldSpace(MODULUS);
    const scratch = space.reserve(2 * PAIRING_SCRATCH);
    const zero = space.reserve(12);
    const gammas = space.reserve(2 * 6);
    this.#line = space.reserve(6);
    this.#f = space.reserve(12);
    this.#product = space.reserve(12);
    this.#a = space.reserve(12);
    this.#b = space.reserve(12);
    this.#c = space.reserve(12);
    this.#power = space.reserve(12);
    this.#pairs = space.reserve(PORTION * 12);
    this.#nextLines = space.reserve(FIXED_MAX * LINES * 4);
    const module = new ModuleBuilder();
    const functions = definePairing(module, space.shape, { scratch, zero, gammas });
    for (const [name, ref] of Object.entries(functions)) module.export(name, ref);
    const { wasm, field, bytes } = space.instantiate(module, COORDINATE_LENGTH);
    this.#wasm = wasm as Wasm;
    this.#field = field;
    this.#bytes = bytes;
    field.set(zero, 0n);
    for (const [i, gamma] of frobeniusConstants().entries()) {
      for (const [j, part] of gamma.entries()) field.set(gammas + i * SIZE2 + j * SIZE, part);
    }
  }

  isOne(input: Uint8Array, offsets: readonly number[], checkpoint: Checkpoint): boolean {
    this.#setOne(this.#f);
    for (let i = 0; i < offsets.length; i += PORTION) {
      const portion = offsets.slice(i, i + PORTION);
      portion.forEach((offset, j) => {
        const p = this.#pairs + j * PAIR_SIZE;
        this.#readPoint(p, input, offset, 2);
        this.#readPoint(p + SIZE2, input, offset + G1_LENGTH, 4);
        this.#setUp(p + SIZE2);
      });
      this.#millerLoop(this.#product, portion.length, checkpoint);
      this.#wasm.mul12(this.#f, this.#f, this.#product);
    }
    return this.#isOneAfterFinalExponentiation(checkpoint);
  }

  isOneFixed(input: Uint8Array, fixed: readonly FixedG2[]): boolean {
    fixed.forEach((_, i) => {
      this.#readPoint(this.#pairs + i * PAIR_SIZE, input, i * G1_LENGTH, 2);
    });
    this.#setOne(this.#f);
    let step = 0;
    const each = () => {
      fixed.forEach(({ lines }, i) => {
        this.#wasm.multiplyUnitLine(this.#f, lines + step * FIXED_LINE_SIZE, this.#pairs + i * PAIR_SIZE);
      });
      step++;
    };
    eachStep(() => {
      this.#wasm.sqr12(this.#f, this.#f);
      each();
    }, each);
    return this.#isOneAfterFinalExponentiation(() => {});
  }

  fix(input: Uint8Array): FixedG2 {
    const lines = this.#nextLines;
    const q = this.#pairs + SIZE2;
    this.#readPoint(q, input, 0, 4);
    this.#setUp(q);
    // Factors in Fp2 do not affect the final exponentiation, so each line is divided by its c0.
    const store = () => {
      const inverse = this.#power;
      this.#invert2(inverse, this.#line);
      for (const n of [0, 1]) {
        this.#wasm.mul2(this.#nextLines + n * SIZE2, this.#line + (n + 1) * SIZE2, inverse);
      }
      this.#nextLines += FIXED_LINE_SIZE;
    };
    eachStep(
      () => {
        this.#wasm.doubleStep(this.#line, q + 2 * SIZE2);
        store();
      },
      () => {
        this.#wasm.addStep(this.#line, q + 2 * SIZE2, q);
        store();
      },
    );
    return { lines };
  }

  #copy(to: number, from: number, length: number): void {
    this.#bytes.copyWithin(to, from, from + length);
  }

  #setOne(to: number): void {
    this.#bytes.fill(0, to, to + SIZE12);
    this.#field.set(to, 1n);
  }

  #readPoint(to: number, input: Uint8Array, offset: number, elements: number): void {
    for (let i = 0; i < elements; i++) {
      this.#field.read(to + i * SIZE, input, offset + i * ENCODED_LENGTH + PADDING);
    }
  }

  /** The running point of the loop of `q` is `q`. */
  #setUp(q: number): void {
    this.#copy(q + 2 * SIZE2, q, 2 * SIZE2);
    this.#bytes.fill(0, q + 4 * SIZE2, q + 5 * SIZE2);
    this.#field.set(q + 4 * SIZE2, 1n);
  }

  /** to = product of the line values of `count` pairs, before the final exponentiation. */
  #millerLoop(to: number, count: number, checkpoint: Checkpoint): void {
    const wasm = this.#wasm;
    this.#setOne(to);
    const each = (step: (q: number) => void) => {
      for (let p = this.#pairs; p < this.#pairs + count * PAIR_SIZE; p += PAIR_SIZE) {
        step(p + SIZE2);
        wasm.multiplyLine(to, this.#line, p);
      }
    };
    eachStep(
      () => {
        checkpoint();
        wasm.sqr12(to, to);
        each((q) => wasm.doubleStep(this.#line, q + 2 * SIZE2));
      },
      () => each((q) => wasm.addStep(this.#line, q + 2 * SIZE2, q)),
    );
  }

  /** to = 1 / from in Fp12 */
  #invert(to: number, from: number): void {
    const wasm = this.#wasm;
    // The norm to Fp6 is n = c0² − v·c1², that to Fp2 then m, that to Fp a number.
    const upper = from + 6 * SIZE;
    const [n, adjugate, t] = [this.#product, this.#power, this.#line] as const;
    wasm.mul6(n, from, from);
    wasm.mul6(adjugate, upper, upper);
    wasm.mulByV(adjugate, adjugate);
    wasm.sub6(n, n, adjugate);
    const [n0, n1, n2] = [n, n + SIZE2, n + 2 * SIZE2];
    const [m0, m1, m2] = [adjugate, adjugate + SIZE2, adjugate + 2 * SIZE2];
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
    this.#invert2(t, n);
    for (const m of [m0, m1, m2]) wasm.mul2(m, m, t);
    wasm.conjugate(to, from);
    wasm.mul6(to, to, adjugate);
    wasm.mul6(to + 6 * SIZE, to + 6 * SIZE, adjugate);
  }

  /** to = 1 / from in Fp2 */
  #invert2(to: number, from: number): void {
    const encoded = new Uint8Array(2 * COORDINATE_LENGTH);
    this.#field.write(from, encoded, 0);
    this.#field.write(from + SIZE, encoded, COORDINATE_LENGTH);
    const re = bytesToBigint(encoded.subarray(0, COORDINATE_LENGTH));
    const im = bytesToBigint(encoded.subarray(COORDINATE_LENGTH, 2 * COORDINATE_LENGTH));
    const norm = (re * re + im * im) % MODULUS;
    invariant(norm !== 0n, "only numbers other than 0 are inverted");
    const inverse = invertModulo(norm, MODULUS);
    this.#field.set(to, (re * inverse) % MODULUS);
    this.#field.set(to + SIZE, ((MODULUS - im) * inverse) % MODULUS);
  }

  /** to = from^(−X) in the cyclotomic subgroup, where the conjugate is the inverse; `to` is not `from`. */
  #raise(to: number, from: number): void {
    const wasm = this.#wasm;
    const power = this.#power;
    this.#copy(power, from, SIZE12);
    eachStep(
      () => wasm.cyclotomicSqr(power, power),
      () => wasm.mul12(power, power, from),
    );
    wasm.conjugate(to, power);
  }

  /** True when f^((p¹² − 1) / r) is one. */
  #isOneAfterFinalExponentiation(checkpoint: Checkpoint): boolean {
    const wasm = this.#wasm;
    const [f, a, b, c] = [this.#f, this.#a, this.#b, this.#c] as const;
    // (p⁶ − 1)(p² + 1)
    this.#invert(a, f);
    wasm.conjugate(f, f);
    wasm.mul12(f, f, a);
    wasm.frobenius(a, f);
    wasm.frobenius(a, a);
    wasm.mul12(f, f, a);
    // 3·(p⁴ − p² + 1) / r = (x − 1)²·(x + p)·(x² + p² − 1) + 3 (Hayashida, Hayasaka and Teruya, 2020); the factor 3 is prime to r.
    checkpoint();
    this.#copy(a, f, SIZE12);
    for (let i = 0; i < 2; i++) {
      this.#raise(b, a);
      wasm.conjugate(a, a);
      wasm.mul12(a, a, b);
    }
    this.#raise(b, a);
    wasm.frobenius(a, a);
    wasm.mul12(a, a, b);
    this.#raise(b, a);
    this.#raise(c, b);
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
}

/** Calls `double` for each bit of X after the first, then `add` where the bit is set. */
function eachStep(double: () => void, add: () => void): void {
  for (const bit of X_BITS) {
    double();
    if (bit === "1") add();
  }
}

/** γ⁰ to γ⁵ in Fp2, for γ = ξ^((p − 1) / 6) with ξ = 1 + i: the p-th power of w is γ·w. */
function frobeniusConstants(): (readonly [bigint, bigint])[] {
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

function multiply([a, b]: readonly [bigint, bigint], [c, d]: readonly [bigint, bigint]): [bigint, bigint] {
  return [(a * c + (MODULUS - b) * d) % MODULUS, (a * d + b * c) % MODULUS];
}

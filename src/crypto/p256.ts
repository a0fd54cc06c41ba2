import { bytesToBigint } from "../primitives/bytes.ts";
import { i32 } from "../wasm/code.ts";
import { compileModule } from "../wasm/compile.ts";
import { call } from "../wasm/function.ts";
import { ModuleBuilder } from "../wasm/module.ts";
import { defineField, fieldShape } from "./field/field.ts";
import { fieldConstantsSize, fieldMemory } from "./field/field-memory.ts";
import { TERM_COORDINATES, writeNonAdjacentForm } from "./field/msm.ts";
import { definePoints, POINT_SCRATCH } from "./field/points.ts";
import { invertModulo } from "./modular.ts";

/** Domain parameters of P-256 (secp256r1, FIPS 186-5): y² = x³ − 3x + b. */
const MODULUS = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const GENERATOR_X = 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n;
const GENERATOR_Y = 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n;

/** Windows of the digits of u₁, whose table is computed once, and of u₂, whose table is computed for each key. */
const FIXED_WINDOW = 8;
const KEY_WINDOW = 5;
const POSITIONS = 257;
const COORDINATE_LENGTH = 32;
const PAGE = 0x10000;

type Verifier = {
  /** True when the x coordinate of u1 · G + u2 · (x, y) is `r` modulo the group order. */
  hasX(u1: bigint, u2: bigint, x: bigint, y: bigint, r: bigint): boolean;
};

let verifier: Verifier | undefined;

/**
 * ECDSA on P-256 over a digest computed by the caller; node:crypto verifies only what it hashes itself.
 * True when (r, s) is a signature of `digest` under the public key (x, y): 0 < r, s < n, the point on the curve.
 * A high s is valid.
 * @param publicKey x ‖ y, 64 bytes
 * @param signature r ‖ s, 64 bytes
 */
export function verifyP256(
  digest: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  const r = bytesToBigint(signature.subarray(0, 32));
  const s = bytesToBigint(signature.subarray(32, 64));
  if (r === 0n || r >= ORDER || s === 0n || s >= ORDER) return false;
  const x = bytesToBigint(publicKey.subarray(0, 32));
  const y = bytesToBigint(publicKey.subarray(32, 64));
  if (!isOnCurve(x, y)) return false;
  const inverse = invertModulo(s, ORDER);
  const u1 = (bytesToBigint(digest) * inverse) % ORDER;
  const u2 = (r * inverse) % ORDER;
  verifier ??= createVerifier();
  return verifier.hasX(u1, u2, x, y, r);
}

/** False for coordinates that are not below the modulus; (0, 0) is not on the curve. */
function isOnCurve(x: bigint, y: bigint): boolean {
  return x < MODULUS && y < MODULUS && (y * y - (x * x - 3n) * x - B) % MODULUS === 0n;
}

type Exports = Readonly<Record<string, (...pointers: number[]) => number>>;

/** One function, because the addresses it reserves and the module over them belong together. */
function createVerifier(): Verifier {
  const shape = fieldShape(MODULUS);
  const { size } = shape;
  const term = TERM_COORDINATES * size;
  let top = 0;
  const reserve = (length: number) => {
    const address = top;
    top += length;
    return address;
  };
  const constants = reserve(fieldConstantsSize(shape));
  const one = reserve(size);
  const zero = reserve(size);
  const scratch = reserve(POINT_SCRATCH * size);
  const sum = reserve(3 * size);
  const twice = reserve(3 * size);
  const candidate = reserve(size);
  /** Odd multiples from 1 on, each x, y, z and −y. */
  const fixedTable = reserve(term << (FIXED_WINDOW - 2));
  const keyTable = reserve(term << (KEY_WINDOW - 2));

  const module = new ModuleBuilder();
  const fp = defineField(module, shape);
  const points = definePoints(module, fp, scratch, one, -3);
  module.export("mul", fp.mul);
  module.export("reduce", fp.reduce);
  for (const [name, ref] of Object.entries(points)) module.export(name, ref);
  module.export(
    "negate",
    module.define(["i32"], [], (f, p) =>
      f.do(call(fp.sub, i32.add(p!, 3 * size), zero, i32.add(p!, size))),
    ),
  );
  // hasX(p, x): 1 when p, not infinity, has the affine coordinate x
  module.export(
    "hasX",
    module.define(["i32", "i32"], ["i32"], (f, p, x) => {
      f.do(
        call(fp.sqr, scratch, i32.add(p!, 2 * size)),
        call(fp.mul, scratch, scratch, x!),
        call(fp.sub, scratch, scratch, p!),
      );
      f.return(call(fp.isZero, scratch));
    }),
  );
  module.export("isZero", fp.isZero);

  const memory = new WebAssembly.Memory({ initial: Math.ceil(top / PAGE) });
  const instance = new WebAssembly.Instance(compileModule(module.bytes()), {
    host: { memory },
  });
  const wasm = instance.exports as Exports;
  const double = wasm["double"]!;
  const add = wasm["add"]!;
  const addAffine = wasm["addAffine"]!;
  const negate = wasm["negate"]!;
  const field = fieldMemory(shape, COORDINATE_LENGTH, memory, constants, {
    mul: wasm["mul"]!,
    reduce: wasm["reduce"]!,
  });
  const bytes = new Uint8Array(memory.buffer);
  field.set(one, 1n);

  const setTerm = (address: number, x: bigint, y: bigint) => {
    field.set(address, x);
    field.set(address + size, y);
    bytes.copyWithin(address + 2 * size, one, one + size);
    negate(address);
  };
  /** The odd multiples of (x, y), in Jacobian coordinates. */
  const writeTable = (table: number, window: number, x: bigint, y: bigint) => {
    setTerm(table, x, y);
    double(twice, table);
    for (let at = table + term; at < table + (term << (window - 2)); at += term) {
      add(at, twice, at - term, at - term + size);
      negate(at);
    }
  };
  const coordinate = (address: number) => {
    const encoded = new Uint8Array(COORDINATE_LENGTH);
    field.write(address, encoded, 0);
    return bytesToBigint(encoded);
  };
  const normalize = (address: number) => {
    const [x, y, z] = [0, 1, 2].map((i) => coordinate(address + i * size)) as [
      bigint,
      bigint,
      bigint,
    ];
    const inverse = invertModulo(z, MODULUS);
    const square = inverse * inverse;
    setTerm(address, (x * square) % MODULUS, (y * square * inverse) % MODULUS);
  };
  writeTable(fixedTable, FIXED_WINDOW, GENERATOR_X, GENERATOR_Y);
  for (let at = fixedTable; at < keyTable; at += term) normalize(at);

  const fixedDigits = new Int16Array(POSITIONS);
  const keyDigits = new Int16Array(POSITIONS);
  const entry = (table: number, digit: number) => table + (Math.abs(digit) >> 1) * term;
  /** The address of y, or for a negative digit that of −y. */
  const signedY = (entry: number, digit: number) => entry + (digit > 0 ? 1 : 3) * size;

  return {
    hasX(u1, u2, x, y, r) {
      writeTable(keyTable, KEY_WINDOW, x, y);
      fixedDigits.fill(0);
      keyDigits.fill(0);
      writeNonAdjacentForm(fixedDigits, u1, FIXED_WINDOW);
      writeNonAdjacentForm(keyDigits, u2, KEY_WINDOW);
      bytes.fill(0, sum, sum + 3 * size);
      for (let position = POSITIONS - 1; position >= 0; position--) {
        double(sum, sum);
        const fixed = fixedDigits[position]!;
        if (fixed !== 0) {
          const p = entry(fixedTable, fixed);
          addAffine(sum, sum, p, signedY(p, fixed));
        }
        const own = keyDigits[position]!;
        if (own !== 0) {
          const p = entry(keyTable, own);
          add(sum, sum, p, signedY(p, own));
        }
      }
      if (wasm["isZero"]!(sum + 2 * size) === 1) return false;
      // The coordinate is below p, which exceeds n: it may be r or r + n.
      for (let value = r; value < MODULUS; value += ORDER) {
        field.set(candidate, value);
        if (wasm["hasX"]!(sum, candidate) === 1) return true;
      }
      return false;
    },
  };
}

import { bytesToBigint } from "../primitives/bytes.ts";
import { i32 } from "../wasm/code.ts";
import { call } from "../wasm/function.ts";
import { ModuleBuilder } from "../wasm/module.ts";
import { defineField } from "./field/field.ts";
import { type FieldExports, type FieldMemory, FieldSpace } from "./field/field-memory.ts";
import { TERM_COORDINATES, writeNonAdjacentForm } from "./field/msm.ts";
import { definePoints, POINT_SCRATCH } from "./field/points.ts";
import { invertModulo } from "./modular.ts";

/** Domain parameters of P-256 (secp256r1, FIPS 186-5): y² = x³ − 3x + b. */
const MODULUS = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const GENERATOR_X = 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n;
const GENERATOR_Y = 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n;

/** Windows of the digits of u₁, whose table is computed once, and of u₂, whose table is computed per key. */
const FIXED_WINDOW = 8;
const KEY_WINDOW = 5;
const POSITIONS = 257;
const COORDINATE_LENGTH = 32;

let verifier: Verifier | undefined;

/**
 * ECDSA on P-256 over the caller's digest; node:crypto verifies only what it hashes itself. True if (r, s) is a signature of `digest` under the
 * public key (x, y): 0 < r, s < n, the point on the curve. A high s is valid.
 * @param publicKey x ‖ y, 64 bytes
 * @param signature r ‖ s, 64 bytes
 */
export function verifyP256(digest: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  const r = bytesToBigint(signature.subarray(0, 32));
  const s = bytesToBigint(signature.subarray(32, 64));
  if (r === 0n || r >= ORDER || s === 0n || s >= ORDER) return false;
  const x = bytesToBigint(publicKey.subarray(0, 32));
  const y = bytesToBigint(publicKey.subarray(32, 64));
  if (!isOnCurve(x, y)) return false;
  const inverse = invertModulo(s, ORDER);
  const u1 = (bytesToBigint(digest) * inverse) % ORDER;
  const u2 = (r * inverse) % ORDER;
  verifier ??= new Verifier();
  return verifier.hasX(u1, u2, x, y, r);
}

/** False for coordinates at or above the modulus; (0, 0) is not on the curve. */
function isOnCurve(x: bigint, y: bigint): boolean {
  return x < MODULUS && y < MODULUS && (y * y - (x * x - 3n) * x - B) % MODULUS === 0n;
}

const COORDINATES = 3;

/** Emitted WebAssembly with a table of multiples of the generator. */
class Verifier {
  readonly #space = new FieldSpace(MODULUS);
  readonly #size = this.#space.shape.size;
  readonly #term = TERM_COORDINATES * this.#size;
  readonly #one = this.#space.reserve(1);
  readonly #sum = this.#space.reserve(COORDINATES);
  readonly #twice = this.#space.reserve(COORDINATES);
  readonly #candidate = this.#space.reserve(1);
  /** Odd multiples from 1 on, each x, y, z and −y. */
  readonly #fixedTable = this.#space.reserve(TERM_COORDINATES << (FIXED_WINDOW - 2));
  readonly #keyTable = this.#space.reserve(TERM_COORDINATES << (KEY_WINDOW - 2));
  readonly #wasm: FieldExports;
  readonly #field: FieldMemory;
  readonly #bytes: Uint8Array;
  readonly #fixedDigits = new Int16Array(POSITIONS);
  readonly #keyDigits = new Int16Array(POSITIONS);

  constructor() {
    const module = this.#defineModule();
    const { wasm, field, bytes } = this.#space.instantiate(module, COORDINATE_LENGTH);
    this.#wasm = wasm;
    this.#field = field;
    this.#bytes = bytes;
    field.set(this.#one, 1n);
    this.#writeTable(this.#fixedTable, FIXED_WINDOW, GENERATOR_X, GENERATOR_Y);
    for (let at = this.#fixedTable; at < this.#keyTable; at += this.#term) this.#normalize(at);
  }

  #defineModule(): ModuleBuilder {
    const module = new ModuleBuilder();
    const { shape } = this.#space;
    const size = this.#size;
    const fp = defineField(module, shape);
    const zero = this.#space.reserve(1);
    const scratch = this.#space.reserve(POINT_SCRATCH);
    const points = definePoints(module, fp, scratch, this.#one, -3);
    for (const [name, ref] of Object.entries(points)) module.export(name, ref);
    module.export("mul", fp.mul);
    module.export("reduce", fp.reduce);
    module.export("isZero", fp.isZero);
    const negate = module.define(["i32"], [], (f, p) =>
      f.do(call(fp.sub, i32.add(p!, 3 * size), zero, i32.add(p!, size))),
    );
    module.export("negate", negate);
    // hasX(p, x): 1 when p, not infinity, has the affine coordinate x
    const hasX = module.define(["i32", "i32"], ["i32"], (f, p, x) => {
      f.do(
        call(fp.sqr, scratch, i32.add(p!, 2 * size)),
        call(fp.mul, scratch, scratch, x!),
        call(fp.sub, scratch, scratch, p!),
      );
      f.return(call(fp.isZero, scratch));
    });
    module.export("hasX", hasX);
    return module;
  }

  /** Whether the x coordinate of u1 · G + u2 · (x, y) is `r` modulo the group order. */
  hasX(u1: bigint, u2: bigint, x: bigint, y: bigint, r: bigint): boolean {
    const sum = this.#sum;
    const fixedDigits = this.#fixedDigits;
    const keyDigits = this.#keyDigits;
    const wasm = this.#wasm;
    const [double, add, addAffine] = [wasm["double"]!, wasm["add"]!, wasm["addAffine"]!];
    this.#writeTable(this.#keyTable, KEY_WINDOW, x, y);
    fixedDigits.fill(0);
    keyDigits.fill(0);
    writeNonAdjacentForm(fixedDigits, u1, FIXED_WINDOW);
    writeNonAdjacentForm(keyDigits, u2, KEY_WINDOW);
    this.#bytes.fill(0, sum, sum + COORDINATES * this.#size);
    for (let position = POSITIONS - 1; position >= 0; position--) {
      double(sum, sum);
      const fixed = fixedDigits[position]!;
      if (fixed !== 0) {
        const p = this.#entry(this.#fixedTable, fixed);
        addAffine(sum, sum, p, this.#signedY(p, fixed));
      }
      const own = keyDigits[position]!;
      if (own !== 0) {
        const p = this.#entry(this.#keyTable, own);
        add(sum, sum, p, this.#signedY(p, own));
      }
    }
    if (wasm["isZero"]!(sum + 2 * this.#size) === 1) return false;
    // The coordinate is below p, which exceeds n: it may be r or r + n.
    for (let value = r; value < MODULUS; value += ORDER) {
      this.#field.set(this.#candidate, value);
      if (wasm["hasX"]!(sum, this.#candidate) === 1) return true;
    }
    return false;
  }

  /** Address of the multiple for `digit`, ignoring its sign. */
  #entry(table: number, digit: number): number {
    return table + (Math.abs(digit) >> 1) * this.#term;
  }

  /** The address of y, or of −y for a negative digit. */
  #signedY(entry: number, digit: number): number {
    return entry + (digit > 0 ? 1 : 3) * this.#size;
  }

  /** The odd multiples of (x, y), in Jacobian coordinates. */
  #writeTable(table: number, window: number, x: bigint, y: bigint): void {
    const term = this.#term;
    this.#setTerm(table, x, y);
    this.#wasm["double"]!(this.#twice, table);
    for (let at = table + term; at < table + (term << (window - 2)); at += term) {
      this.#wasm["add"]!(at, this.#twice, at - term, at - term + this.#size);
      this.#wasm["negate"]!(at);
    }
  }

  #setTerm(address: number, x: bigint, y: bigint): void {
    const size = this.#size;
    this.#field.set(address, x);
    this.#field.set(address + size, y);
    this.#bytes.copyWithin(address + 2 * size, this.#one, this.#one + size);
    this.#wasm["negate"]!(address);
  }

  /** Makes the coordinates of a term affine. */
  #normalize(address: number): void {
    const x = this.#coordinate(address);
    const y = this.#coordinate(address + this.#size);
    const inverse = invertModulo(this.#coordinate(address + 2 * this.#size), MODULUS);
    const square = inverse * inverse;
    this.#setTerm(address, (x * square) % MODULUS, (y * square * inverse) % MODULUS);
  }

  #coordinate(address: number): bigint {
    const encoded = new Uint8Array(COORDINATE_LENGTH);
    this.#field.write(address, encoded, 0);
    return bytesToBigint(encoded);
  }
}

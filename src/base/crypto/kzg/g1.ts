import { bigintToFixedBytes } from "../../primitives/bytes.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { blsWorkspace, encodeG1 } from "../bls12-381/bls12-381.ts";
import { blsGroups } from "../bls12-381/points.ts";
import { FP_SIZE, FR_SIZE, G1_SIZE, isBelow, type Mcl } from "../mcl.ts";

/**
 * Points of G1 in the compressed form of commitments and proofs: x in 48 bytes, whose three highest bits are flags:
 *
 *     0x80   compressed, always set
 *     0x40   infinity; everything else is then zero
 *     0x20   y is the larger of the two roots
 */
export const COMPRESSED_LENGTH = 48;

const COMPRESSED = 0x80;
const INFINITE = 0x40;
const LARGER = 0x20;
const FLAGS = COMPRESSED | INFINITE | LARGER;

/** (p − 1) / 2 + 1: the smallest y that is the larger root. */
const LARGER_ROOT_MIN = hexToBytes(
  "0x0d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd556",
);
const CURVE_CONSTANT = 4;

/**
 * Stores the point at `offset` of `bytes`.
 * @returns false if the point is not on the curve or its encoding is not canonical; the subgroup is not tested.
 */
export function readCompressed(point: number, bytes: Uint8Array, offset: number): boolean {
  const { mcl, field: scratch } = blsWorkspace();
  const { module } = mcl;
  const flags = bytes[offset]! & FLAGS;
  const x = bytes.slice(offset, offset + COMPRESSED_LENGTH);
  x[0]! &= ~FLAGS;
  if ((flags & COMPRESSED) === 0) return false;
  if ((flags & INFINITE) !== 0) {
    writeInfinity(mcl, point);
    return flags === (COMPRESSED | INFINITE) && x.every((byte) => byte === 0);
  }
  const y = point + FP_SIZE;
  if (!mcl.readField(point, x, 0)) return false;
  module.mclBnFp_sqr(y, point);
  module.mclBnFp_mul(y, y, point);
  module.mclBnFp_setInt32(scratch, CURVE_CONSTANT);
  module.mclBnFp_add(y, y, scratch);
  if (module.mclBnFp_squareRoot(y, y) !== 0) return false;
  if (isLargerRoot(mcl, y) !== ((flags & LARGER) !== 0)) module.mclBnFp_neg(y, y);
  module.mclBnFp_setInt32(point + 2 * FP_SIZE, 1);
  return true;
}

/** Like `readCompressed`, but also false for a point outside the subgroup: KeyValidate of the specification, with infinity allowed. */
export function readValidated(point: number, bytes: Uint8Array, offset: number): boolean {
  if (!readCompressed(point, bytes, offset)) return false;
  if (blsWorkspace().mcl.module.mclBnG1_isZero(point) === 1) return true;
  return blsGroups().g1.isInSubgroup(encodeG1(point), 0);
}

/** The compressed form of the point, which is made affine. */
export function writeCompressed(point: number): Uint8Array {
  const { mcl } = blsWorkspace();
  const out = new Uint8Array(COMPRESSED_LENGTH);
  if (mcl.module.mclBnG1_isZero(point) === 1) {
    out[0] = COMPRESSED | INFINITE;
    return out;
  }
  mcl.module.mclBnG1_normalize(point, point);
  mcl.writeField(point, out, 0);
  out[0]! |= COMPRESSED | (isLargerRoot(mcl, point + FP_SIZE) ? LARGER : 0);
  return out;
}

export function writeInfinity({ module }: Mcl, point: number): void {
  for (let i = 0; i < 3; i++) module.mclBnFp_setInt32(point + i * FP_SIZE, 0);
}

/** result = Σ scalars[i] · points[i] over `scalars.length` consecutive points from `points`, which may be rescaled. */
export function linearCombination(result: number, points: number, scalars: readonly bigint[]): void {
  const { mcl } = blsWorkspace();
  mcl.borrow(scalars.length * FR_SIZE, (pointer) => {
    scalars.forEach((scalar, i) => {
      mcl.readScalar(pointer + i * FR_SIZE, bigintToFixedBytes(scalar, 32), 0);
    });
    mcl.module.mclBnG1_mulVec(result, points, pointer, scalars.length);
  });
}

export function borrowPoints<T>(count: number, body: (points: number) => T): T {
  return blsWorkspace().mcl.borrow(count * G1_SIZE, body);
}

function isLargerRoot(mcl: Mcl, y: number): boolean {
  const bytes = new Uint8Array(COMPRESSED_LENGTH);
  mcl.writeField(y, bytes, 0);
  return !isBelow(bytes, 0, LARGER_ROOT_MIN);
}

import { hexToBytes } from "../primitives/hex.ts";
import { type Checkpoint, noCheckpoint } from "./checkpoint.ts";
import { FP_SIZE, FP2_SIZE, FR_SIZE, G1_SIZE, G2_SIZE, GT_SIZE, loadMcl, type Mcl, millerLoops } from "./mcl.ts";

/**
 * The curve alt_bn128 (EIP-196, EIP-197), points in the encoding of its precompiles:
 *
 *     G1   x ‖ y                                     64 bytes, infinity all zero
 *     G2   x imaginary ‖ x real ‖ y imaginary ‖ …    128 bytes, infinity all zero
 */
export const BN254_G1_LENGTH = 64;
export const BN254_G2_LENGTH = 128;

/** Faults of an encoded point. */
export type PointFault = "field" | "curve" | "subgroup";

type Workspace = {
  readonly mcl: Mcl;
  readonly a: number;
  readonly b: number;
  readonly scalar: number;
  readonly gt: number;
  readonly product: number;
  readonly psi: Psi;
};

/** ψ(x, y) = (x̄ · xFactor, ȳ · yFactor), the endomorphism of G2, with room for four points that the subgroup check works on. */
type Psi = {
  readonly xFactor: number;
  readonly yFactor: number;
  readonly points: readonly [number, number, number, number];
};

const BN_SNARK1 = 4;
const MODULUS = hexToBytes("0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47");

/** The parameter of the curve. */
const X = 4965661367192848881n;
/** (9 + i)^((p − 1) / 3) and (9 + i)^((p − 1) / 2), each real ‖ imaginary. */
const PSI_X = hexToBytes(
  "0x2fb347984f7911f74c0bec3cf559b143b78cc310c2c3330c99e39557176f553d16c9e55061ebae204ba4cc8bd75a079432ae2a1d0b7c9dce1665d51c640fcba2",
);
const PSI_Y = hexToBytes(
  "0x063cf305489af5dcdc5ec698b6e2f9b9dbaae0eda9c95998dc54014671a0135a07c03cbcac41049a0704b5a7ec796f2b21807dc98fa25bd282d37f632623b0e3",
);

/** Pairs of one Miller loop, about 10 ms. */
const PAIRS_PER_LOOP = 8;

let workspace: Workspace | undefined;

/** a + b. Points are read at offsets 0 and 64 of `input`, which has at least 128 bytes. */
export function bn254Add(input: Uint8Array): Uint8Array | PointFault {
  const { mcl, a, b } = work();
  const fault = readG1(mcl, a, input, 0) ?? readG1(mcl, b, input, BN254_G1_LENGTH);
  if (fault) return fault;
  mcl.module.mclBnG1_add(a, a, b);
  return writeG1(mcl, a);
}

/** scalar · point. The point is read at offset 0 of `input`, the 32-byte scalar at 64; any scalar is valid. */
export function bn254Multiply(input: Uint8Array): Uint8Array | PointFault {
  const { mcl, a, scalar } = work();
  const fault = readG1(mcl, a, input, 0);
  if (fault) return fault;
  mcl.readScalar(scalar, input, BN254_G1_LENGTH);
  mcl.module.mclBnG1_mul(a, a, scalar);
  return writeG1(mcl, a);
}

/** Whether the product of the pairings of the (G1, G2) pairs in `pairs`, 192 bytes each, is one. */
export function bn254PairingIsOne(pairs: Uint8Array, checkpoint: Checkpoint = noCheckpoint): boolean | PointFault {
  const { mcl, gt, product, psi } = work();
  const { module } = mcl;
  const pairLength = BN254_G1_LENGTH + BN254_G2_LENGTH;
  const count = pairs.length / pairLength;
  return mcl.borrow(count * (G1_SIZE + G2_SIZE), (points) => {
    const g2Points = points + count * G1_SIZE;
    let finite = 0;
    for (let at = 0; at < pairs.length; at += pairLength) {
      const p = points + finite * G1_SIZE;
      const q = g2Points + finite * G2_SIZE;
      checkpoint();
      const fault = readG1(mcl, p, pairs, at) ?? readG2(mcl, psi, q, pairs, at + BN254_G1_LENGTH);
      if (fault) return fault;
      // A pair with infinity contributes the factor one.
      if (module.mclBnG1_isZero(p) === 0 && module.mclBnG2_isZero(q) === 0) finite++;
    }
    if (finite === 0) return true;
    millerLoops(mcl, product, gt, points, g2Points, finite, PAIRS_PER_LOOP, checkpoint);
    module.mclBn_finalExp(gt, product);
    return module.mclBnGT_isOne(gt) === 1;
  });
}

function readG1(mcl: Mcl, point: number, bytes: Uint8Array, offset: number): PointFault | undefined {
  const { module } = mcl;
  const x = point;
  const y = point + FP_SIZE;
  const z = point + 2 * FP_SIZE;
  if (!mcl.readField(x, bytes, offset) || !mcl.readField(y, bytes, offset + 32)) return "field";
  const infinite = module.mclBnFp_isZero(x) === 1 && module.mclBnFp_isZero(y) === 1;
  module.mclBnFp_setInt32(z, infinite ? 0 : 1);
  // G1 has prime order, so points on the curve are in the subgroup.
  return infinite || module.mclBnG1_isValid(point) === 1 ? undefined : "curve";
}

function readG2(mcl: Mcl, psi: Psi, point: number, bytes: Uint8Array, offset: number): PointFault | undefined {
  const { module } = mcl;
  let infinite = true;
  for (let i = 0; i < 4; i++) {
    // The imaginary part comes first in the encoding and second in memory.
    const coordinate = point + (i ^ 1) * FP_SIZE;
    if (!mcl.readField(coordinate, bytes, offset + 32 * i)) return "field";
    infinite &&= module.mclBnFp_isZero(coordinate) === 1;
  }
  module.mclBnFp_setInt32(point + 4 * FP_SIZE, infinite ? 0 : 1);
  module.mclBnFp_setInt32(point + 5 * FP_SIZE, 0);
  if (infinite) return undefined;
  if (module.mclBnG2_isValid(point) === 0) return "curve";
  return isInG2(mcl, psi, point) ? undefined : "subgroup";
}

/**
 * Whether [x+1]P + ψ([x]P) + ψ²([x]P) = ψ³([2x]P), which holds only in the subgroup (El Housni, Guillevic and Piellard, "Co-factor clearing and
 * subgroup membership testing", 2022): a quarter of the doublings of a multiplication by the group order.
 */
function isInG2(mcl: Mcl, psi: Psi, point: number): boolean {
  const { module } = mcl;
  const [xTimes, image, square, cube] = psi.points;
  module.mclBnG2_dbl(xTimes, point);
  for (let bit = X.toString(2).length - 2; bit >= 0; bit--) {
    if (bit < X.toString(2).length - 2) module.mclBnG2_dbl(xTimes, xTimes);
    if ((X >> BigInt(bit)) & 1n) module.mclBnG2_add(xTimes, xTimes, point);
  }
  applyPsi(mcl, psi, image, xTimes);
  applyPsi(mcl, psi, square, image);
  applyPsi(mcl, psi, cube, square);
  module.mclBnG2_dbl(cube, cube);
  module.mclBnG2_add(xTimes, xTimes, point);
  module.mclBnG2_add(xTimes, xTimes, image);
  module.mclBnG2_add(xTimes, xTimes, square);
  module.mclBnG2_sub(xTimes, xTimes, cube);
  return module.mclBnG2_isZero(xTimes) === 1;
}

function applyPsi({ module }: Mcl, { xFactor, yFactor }: Psi, to: number, from: number): void {
  // mcl's points are Jacobian; the factors apply to affine coordinates.
  for (let i = 0; i < 3; i++) {
    const [target, source] = [to + i * FP2_SIZE, from + i * FP2_SIZE];
    module.mclBnFp_neg(target, source);
    module.mclBnFp_neg(target, target);
    module.mclBnFp_neg(target + FP_SIZE, source + FP_SIZE);
  }
  module.mclBnFp2_mul(to, to, xFactor);
  module.mclBnFp2_mul(to + FP2_SIZE, to + FP2_SIZE, yFactor);
}

function writeG1(mcl: Mcl, point: number): Uint8Array {
  const out = new Uint8Array(BN254_G1_LENGTH);
  if (mcl.module.mclBnG1_isZero(point) === 1) return out;
  mcl.module.mclBnG1_normalize(point, point);
  mcl.writeField(point, out, 0);
  mcl.writeField(point + FP_SIZE, out, 32);
  return out;
}

function work(): Workspace {
  if (workspace) return workspace;
  const mcl = loadMcl({ id: BN_SNARK1, modulus: MODULUS });
  const constant = (bytes: Uint8Array) => {
    const address = mcl.reserve(FP2_SIZE);
    mcl.readField(address, bytes, 0);
    mcl.readField(address + FP_SIZE, bytes, mcl.fieldLength);
    return address;
  };
  workspace = {
    mcl,
    a: mcl.reserve(G1_SIZE),
    b: mcl.reserve(G1_SIZE),
    scalar: mcl.reserve(FR_SIZE),
    gt: mcl.reserve(GT_SIZE),
    product: mcl.reserve(GT_SIZE),
    psi: {
      xFactor: constant(PSI_X),
      yFactor: constant(PSI_Y),
      points: [mcl.reserve(G2_SIZE), mcl.reserve(G2_SIZE), mcl.reserve(G2_SIZE), mcl.reserve(G2_SIZE)],
    },
  };
  return workspace;
}

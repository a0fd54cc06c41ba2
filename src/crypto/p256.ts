import { bytesToBigint } from "../primitives/bytes.ts";
import { hexToBytes } from "../primitives/hex.ts";
import { FP_SIZE, FR_SIZE, G1_SIZE, isBelow, loadMcl, type Mcl } from "./mcl.ts";

/**
 * ECDSA on P-256 (secp256r1, FIPS 186-5) over a digest made elsewhere. node:crypto verifies only what it hashes itself;
 * mcl does it in a sixth of noble's time (bench/micro/precompiles.ts).
 */
const NIST_P256 = 107;
const MODULUS = hexToBytes("0xffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
const ORDER = hexToBytes("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
const GENERATOR = hexToBytes(
  "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
);
const ORDER_VALUE = bytesToBigint(ORDER);

type Workspace = {
  readonly mcl: Mcl;
  /** Room for the two points and the two scalars of u₁·G + u₂·Q. */
  readonly points: number;
  readonly scalars: number;
  readonly inverse: number;
  readonly result: number;
};

let workspace: Workspace | undefined;

/**
 * True when (r, s) is a signature of `digest` under the public key (x, y): 0 < r, s < n, the point on the curve.
 * A high s is fine.
 * @param publicKey x ‖ y, 64 bytes
 * @param signature r ‖ s, 64 bytes
 */
export function verifyP256(
  digest: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  if (!isScalar(signature, 0) || !isScalar(signature, 32)) return false;
  workspace ??= createWorkspace();
  const { mcl, points, scalars, inverse, result } = workspace;
  const { module } = mcl;
  const u1 = scalars;
  const u2 = scalars + FR_SIZE;
  if (!readPoint(mcl, points + G1_SIZE, publicKey)) return false;
  // The multiplication may rescale its points, so G is put there every time.
  readPoint(mcl, points, GENERATOR);
  mcl.readScalar(inverse, signature, 32);
  module.mclBnFr_inv(inverse, inverse);
  mcl.readScalar(u1, digest, 0);
  module.mclBnFr_mul(u1, u1, inverse);
  mcl.readScalar(u2, signature, 0);
  module.mclBnFr_mul(u2, u2, inverse);
  module.mclBnG1_mulVec(result, points, scalars, 2);
  if (module.mclBnG1_isZero(result) === 1) return false;
  module.mclBnG1_normalize(result, result);
  const x = new Uint8Array(32);
  mcl.writeField(result, x, 0);
  return bytesToBigint(x) % ORDER_VALUE === bytesToBigint(signature.subarray(0, 32));
}

function isScalar(bytes: Uint8Array, offset: number): boolean {
  for (let i = 0; i < 32; i++) if (bytes[offset + i] !== 0) return isBelow(bytes, offset, ORDER);
  return false;
}

/** False unless both coordinates are field elements and the point is on the curve; (0, 0) is not. */
function readPoint(mcl: Mcl, point: number, bytes: Uint8Array): boolean {
  if (!mcl.readField(point, bytes, 0) || !mcl.readField(point + FP_SIZE, bytes, 32)) return false;
  mcl.module.mclBnFp_setInt32(point + 2 * FP_SIZE, 1);
  return mcl.module.mclBnG1_isValid(point) === 1;
}

function createWorkspace(): Workspace {
  const mcl = loadMcl({ id: NIST_P256, modulus: MODULUS });
  return {
    mcl,
    points: mcl.reserve(2 * G1_SIZE),
    scalars: mcl.reserve(2 * FR_SIZE),
    inverse: mcl.reserve(FR_SIZE),
    result: mcl.reserve(G1_SIZE),
  };
}

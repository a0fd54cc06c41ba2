import { concatBytes } from "../../primitives/bytes.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { BLS_FIELD_LENGTH, blsWorkspace, encodeG1 } from "../bls12-381/bls12-381.ts";
import { blsPairing, type FixedG2 } from "../bls12-381/pairing.ts";
import { FP_SIZE, FR_SIZE, G1_SIZE, type Mcl } from "../mcl.ts";
import { readValidated } from "./g1.ts";
import { isCanonicalScalar } from "./scalar.ts";

/** Why a KZG proof is rejected. */
export type KzgFault =
  /** a scalar that is not below the order */
  | "scalar"
  /** a commitment or proof that is not a point of the subgroup */
  | "point"
  /** well formed, but not an opening of the commitment */
  | "proof";

/** geth's texts, from its default KZG library. */
export const KZG_FAULT_TEXTS: Readonly<Record<KzgFault, string>> = {
  scalar: "scalar is not canonical when interpreted as a big integer in big-endian",
  point: "invalid point: subgroup check failed",
  proof: "can't verify opening proof",
};

/**
 * Affine coordinates of the generators of G1 and G2 and of the ceremony's [τ] and [τ⁶⁴] in G2 (c0 before c1). Checking proofs needs nothing else
 * of the trusted setup, so the point evaluation precompile reads no file.
 */
const G1_GENERATOR = hexToBytes(
  "0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1",
);
const G2_GENERATOR = hexToBytes(
  "0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb813e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b828010606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
);
const G2_TAU = hexToBytes(
  "0x185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def215bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72014353bdb96b626dd7d5ee8599d1fca2131569490e28de18e82451a496a9c9794ce26d105941f383ee689bfbbb832a991666c54b0a32529503432fcae0181b4bef79de09fc63671fda5ed1ba9bfa07899495346f3d7ac9cd23048ef30d0a154f",
);
const G2_TAU_64 = hexToBytes(
  "0x12838a761053437883c3e01ba616670cea843754548ef84bcc397de2369adcca2ab54cd73c55dc68d87aec3fc2fe4f1012dcc5a1c8c3e1b28b1524e3dd6dbecd63017c9201da9dbe077f1b82adc08c50169f56fc7b5a3b28ec6b89254de3e2fd01ae6000d8e795efa3e96b939df6861db9f6bcff35b4694605ad5fdaf950fec9ae3e9c7e28da965024ed859c18db9c73056e7a04ea62222711a986e4f4f38ba4909ea2f4cb8abe56fec9fe9bcfadbcea5fb660bc4b1032ed359261d74d2ba725",
);

const COORDINATE_LENGTH = 48;

type Workspace = {
  readonly g1Generator: number;
  readonly fixed: Readonly<Record<"generator" | "tau" | "tau64", FixedG2>>;
  readonly commitment: number;
  readonly proof: number;
  readonly sum: number;
  readonly negated: number;
  /** Two points in a row. */
  readonly pair: number;
  readonly scalars: number;
};

let workspace: Workspace | undefined;

/**
 * The fault in the claim that the polynomial of `commitment` takes the value `y` at `z`; undefined if it holds. `verify_kzg_proof` of EIP-4844.
 * @param commitment and `proof`: 48 bytes; `z` and `y`: 32 bytes
 */
export function openingFault(
  commitment: Uint8Array,
  z: Uint8Array,
  y: Uint8Array,
  proof: Uint8Array,
): KzgFault | undefined {
  if (!isCanonicalScalar(z, 0) || !isCanonicalScalar(y, 0)) return "scalar";
  const { mcl } = blsWorkspace();
  const { module } = mcl;
  const space = work();
  if (!readValidated(space.commitment, commitment, 0)) return "point";
  if (!readValidated(space.proof, proof, 0)) return "point";
  // e(C − y·G₁ + z·π, G₂) = e(π, τ·G₂): the textbook equation with the multiplication moved from G2 to G1.
  module.mclBnG1_neg(space.pair, space.g1Generator);
  copyPoint(mcl, space.pair + G1_SIZE, space.proof);
  mcl.readScalar(space.scalars, y, 0);
  mcl.readScalar(space.scalars + FR_SIZE, z, 0);
  module.mclBnG1_mulVec(space.sum, space.pair, space.scalars, 2);
  module.mclBnG1_add(space.sum, space.sum, space.commitment);
  return pairingsAgree(space.sum, space.proof, "tau") ? undefined : "proof";
}

/** Whether e(left, G₂) = e(right, power · G₂) for a power of τ; makes the points `left` and `right` of G1 affine. */
export function pairingsAgree(left: number, right: number, power: "tau" | "tau64"): boolean {
  const { module } = blsWorkspace().mcl;
  const { negated, fixed } = work();
  const leftIsInfinite = module.mclBnG1_isZero(left) === 1;
  const rightIsInfinite = module.mclBnG1_isZero(right) === 1;
  // The pairing of a base with a point of the subgroup is one only for infinity.
  if (leftIsInfinite || rightIsInfinite) return leftIsInfinite && rightIsInfinite;
  module.mclBnG1_neg(negated, right);
  const points = concatBytes(encodeG1(left), encodeG1(negated));
  return blsPairing().isOneFixed(points, [fixed.generator, fixed[power]]);
}

function work(): Workspace {
  if (workspace) return workspace;
  const { mcl } = blsWorkspace();
  const g1Generator = mcl.reserve(G1_SIZE);
  readConstant(mcl, g1Generator, G1_GENERATOR);
  const fix = (coordinates: Uint8Array) => {
    const padded = new Uint8Array(4 * BLS_FIELD_LENGTH);
    for (let i = 0; i < 4; i++) {
      const coordinate = coordinates.subarray(i * COORDINATE_LENGTH, (i + 1) * COORDINATE_LENGTH);
      padded.set(coordinate, (i + 1) * BLS_FIELD_LENGTH - COORDINATE_LENGTH);
    }
    return blsPairing().fix(padded);
  };
  workspace = {
    g1Generator,
    fixed: {
      generator: fix(G2_GENERATOR),
      tau: fix(G2_TAU),
      tau64: fix(G2_TAU_64),
    },
    commitment: mcl.reserve(G1_SIZE),
    proof: mcl.reserve(G1_SIZE),
    sum: mcl.reserve(G1_SIZE),
    negated: mcl.reserve(G1_SIZE),
    pair: mcl.reserve(2 * G1_SIZE),
    scalars: mcl.reserve(2 * FR_SIZE),
  };
  return workspace;
}

/** Stores an affine point of G1: its coordinates, then z = 1. */
function readConstant(mcl: Mcl, point: number, coordinates: Uint8Array): void {
  for (let i = 0; i < 2; i++) {
    mcl.readField(point + i * FP_SIZE, coordinates, i * COORDINATE_LENGTH);
  }
  mcl.module.mclBnFp_setInt32(point + 2 * FP_SIZE, 1);
}

function copyPoint({ module }: Mcl, to: number, from: number): void {
  module.mclBnG1_neg(to, from);
  module.mclBnG1_neg(to, to);
}

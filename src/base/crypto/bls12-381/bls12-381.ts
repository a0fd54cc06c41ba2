import { bigintToFixedBytes, bytesToBigint } from "../../primitives/bytes.ts";
import { type Checkpoint, noCheckpoint } from "../checkpoint.ts";
import { FP_SIZE, FP2_SIZE, G2_SIZE, loadMcl, type Mcl } from "../mcl.ts";
import { COORDINATE_LENGTH, MODULUS, PADDING } from "./curve.ts";
import { blsPairing } from "./pairing.ts";
import { blsGroups } from "./points.ts";

/**
 * The curve BLS12-381 in the encoding of EIP-2537:
 *
 *     field element   16 zero bytes ‖ 48 bytes, big-endian
 *     G1              x ‖ y                           128 bytes, infinity all zero
 *     G2              x.c0 ‖ x.c1 ‖ y.c0 ‖ y.c1       256 bytes, infinity all zero
 *     scalar          32 bytes, any value
 */
export const BLS_FIELD_LENGTH = 64;
export const BLS_G1_LENGTH = 128;
export const BLS_G2_LENGTH = 256;
export const BLS_SCALAR_LENGTH = 32;

/** Faults of an encoded field element or point. */
export type BlsFault = "padding" | "field" | "curve" | "g1Subgroup" | "g2Subgroup";

const BLS12_381 = 5;

/** mcl's number for the maps of RFC 9380, which EIP-2537 requires. */
const MAP_RFC_9380 = 5;

type Workspace = {
  readonly mcl: Mcl;
  readonly a: number;
  readonly b: number;
  readonly field: number;
};

let workspace: Workspace | undefined;

/** The arithmetic of this curve with scratch space for single operations; KZG uses it too. */
export function blsWorkspace(): Workspace {
  if (workspace) return workspace;
  const mcl = loadMcl({ id: BLS12_381, modulus: bigintToFixedBytes(MODULUS, COORDINATE_LENGTH) });
  mcl.module.mclBn_setMapToMode(MAP_RFC_9380);
  workspace = {
    mcl,
    a: mcl.reserve(G2_SIZE),
    b: mcl.reserve(G2_SIZE),
    field: mcl.reserve(FP2_SIZE),
  };
  return workspace;
}

type Group = {
  readonly name: "g1" | "g2";
  readonly encodedLength: number;
  /** Field elements per coordinate. */
  readonly degree: 1 | 2;
  readonly prefix: "mclBnG1" | "mclBnG2";
  readonly subgroupFault: BlsFault;
};

const G1: Group = {
  name: "g1",
  encodedLength: BLS_G1_LENGTH,
  degree: 1,
  prefix: "mclBnG1",
  subgroupFault: "g1Subgroup",
};

const G2: Group = {
  name: "g2",
  encodedLength: BLS_G2_LENGTH,
  degree: 2,
  prefix: "mclBnG2",
  subgroupFault: "g2Subgroup",
};

/** Sum of the two points in `input`, which need not be in the subgroup. */
export const blsG1Add = (input: Uint8Array) => add(G1, input);
/** Like `blsG1Add`, in G2. */
export const blsG2Add = (input: Uint8Array) => add(G2, input);

/**
 * Σ scalar · point over the (point, scalar) pairs in `input`; the points must be in the subgroup. `checkpoint` is called every few milliseconds
 * and may throw.
 */
export const blsG1Msm = (input: Uint8Array, checkpoint?: Checkpoint) => multiScalarMultiply(G1, input, checkpoint);
/** Like `blsG1Msm`, in G2. */
export const blsG2Msm = (input: Uint8Array, checkpoint?: Checkpoint) => multiScalarMultiply(G2, input, checkpoint);

/** The point of G1 that the field element in `input` maps to (RFC 9380, map_to_curve and clear_cofactor). */
export function blsMapFpToG1(input: Uint8Array): Uint8Array | BlsFault {
  const { mcl, a, field } = blsWorkspace();
  const fault = readField(mcl, field, input, 0);
  if (fault) return fault;
  mcl.module.mclBnFp_mapToG1(a, field);
  return writePoint(mcl, G1, a);
}

/** The point of G2 that the element c0 ‖ c1 of Fp2 in `input` maps to. */
export function blsMapFp2ToG2(input: Uint8Array): Uint8Array | BlsFault {
  const { mcl, a, field } = blsWorkspace();
  const fault = readField(mcl, field, input, 0) ?? readField(mcl, field + FP_SIZE, input, BLS_FIELD_LENGTH);
  if (fault) return fault;
  mcl.module.mclBnFp2_mapToG2(a, field);
  return writePoint(mcl, G2, a);
}

/** Whether the product of the pairings of the (G1, G2) pairs in `pairs` is one; all points must be in their subgroup. */
export function blsPairingIsOne(pairs: Uint8Array, checkpoint = noCheckpoint): boolean | BlsFault {
  const { mcl, a, b } = blsWorkspace();
  const { module } = mcl;
  const offsets = [];
  for (let at = 0; at < pairs.length; at += BLS_G1_LENGTH + BLS_G2_LENGTH) {
    checkpoint();
    const fault =
      readPoint(mcl, G1, a, pairs, at) ??
      readPoint(mcl, G2, b, pairs, at + BLS_G1_LENGTH) ??
      checkSubgroup(mcl, G1, a, pairs, at) ??
      checkSubgroup(mcl, G2, b, pairs, at + BLS_G1_LENGTH);
    if (fault) return fault;
    // A pair with infinity contributes the factor one.
    if (module.mclBnG1_isZero(a) === 0 && module.mclBnG2_isZero(b) === 0) offsets.push(at);
  }
  return offsets.length === 0 || blsPairing().isOne(pairs, offsets, checkpoint);
}

/** The encoding of the point of G1 at `point` in mcl's memory, which is made affine. */
export function encodeG1(point: number): Uint8Array {
  return writePoint(blsWorkspace().mcl, G1, point);
}

function add(group: Group, input: Uint8Array): Uint8Array | BlsFault {
  const { mcl, a, b } = blsWorkspace();
  const fault = readPoint(mcl, group, a, input, 0) ?? readPoint(mcl, group, b, input, group.encodedLength);
  if (fault) return fault;
  mcl.module[`${group.prefix}_add`](a, a, b);
  return writePoint(mcl, group, a);
}

function multiScalarMultiply(group: Group, input: Uint8Array, checkpoint = noCheckpoint): Uint8Array | BlsFault {
  const { mcl, a } = blsWorkspace();
  const { encodedLength } = group;
  const termLength = encodedLength + BLS_SCALAR_LENGTH;
  const terms = [];
  for (let at = 0; at < input.length; at += termLength) {
    checkpoint();
    const fault = readPoint(mcl, group, a, input, at) ?? checkSubgroup(mcl, group, a, input, at);
    if (fault) return fault;
    if (mcl.module[`${group.prefix}_isZero`](a) === 1) continue;
    const scalarAt = at + encodedLength;
    const scalar = bytesToBigint(input.subarray(scalarAt, scalarAt + BLS_SCALAR_LENGTH));
    terms.push({ offset: at, scalar });
  }
  const sum = blsGroups()[group.name].multiply(input, terms, checkpoint);
  // Affine coordinates need an inversion, and mcl's is faster.
  for (let i = 0; i < 3 * group.degree; i++) {
    mcl.readField(a + i * FP_SIZE, sum, i * BLS_FIELD_LENGTH + PADDING);
  }
  return writePoint(mcl, group, a);
}

function readField(mcl: Mcl, pointer: number, bytes: Uint8Array, offset: number): BlsFault | undefined {
  for (let i = 0; i < PADDING; i++) if (bytes[offset + i] !== 0) return "padding";
  return mcl.readField(pointer, bytes, offset + PADDING) ? undefined : "field";
}

/** Stores the point at `offset` of `bytes`; checks everything but its subgroup. */
function readPoint(
  mcl: Mcl,
  { degree, prefix }: Group,
  point: number,
  bytes: Uint8Array,
  offset: number,
): BlsFault | undefined {
  const { module } = mcl;
  let infinite = true;
  for (let i = 0; i < 2 * degree; i++) {
    const coordinate = point + i * FP_SIZE;
    const fault = readField(mcl, coordinate, bytes, offset + i * BLS_FIELD_LENGTH);
    if (fault) return fault;
    infinite &&= module.mclBnFp_isZero(coordinate) === 1;
  }
  const z = point + 2 * degree * FP_SIZE;
  module.mclBnFp_setInt32(z, infinite ? 0 : 1);
  if (degree === 2) module.mclBnFp_setInt32(z + FP_SIZE, 0);
  return infinite || module[`${prefix}_isValid`](point) === 1 ? undefined : "curve";
}

/** Tests the subgroup of the point at `offset` of `bytes`, which was read to `point`. */
function checkSubgroup(
  { module }: Mcl,
  { name, prefix, subgroupFault }: Group,
  point: number,
  bytes: Uint8Array,
  offset: number,
): BlsFault | undefined {
  if (module[`${prefix}_isZero`](point) === 1) return undefined;
  return blsGroups()[name].isInSubgroup(bytes, offset) ? undefined : subgroupFault;
}

/** Makes the point affine, then encodes it. */
function writePoint(mcl: Mcl, { degree, prefix, encodedLength }: Group, point: number): Uint8Array {
  const out = new Uint8Array(encodedLength);
  if (mcl.module[`${prefix}_isZero`](point) === 1) return out;
  mcl.module[`${prefix}_normalize`](point, point);
  for (let i = 0; i < 2 * degree; i++) {
    mcl.writeField(point + i * FP_SIZE, out, i * BLS_FIELD_LENGTH + PADDING);
  }
  return out;
}

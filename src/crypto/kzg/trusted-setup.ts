import { invariant } from "../../errors.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { blsWorkspace } from "../bls12-381/bls12-381.ts";
import { G1_SIZE } from "../mcl.ts";
import { readCompressed } from "./g1.ts";
import { readTrustedSetup, type TrustedSetup } from "./trusted-setup-file.ts";

let setup: TrustedSetup | undefined;
let points = 0;
let loaded = 0;

/**
 * A pointer to at least `count` points [1], [τ], [τ²], … of G1 in a row in mcl's memory, at most 4096. The file, 880 KB, is read at
 * the first call: only commitments and cell proofs need it. Points are decompressed when first asked for,
 * for it takes half a second for all and 64 do to check proofs.
 */
export function monomialPoints(count: number): number {
  setup ??= readTrustedSetup();
  const { g1_monomial: compressed } = setup;
  invariant(count <= compressed.length, `the setup has ${count} powers`);
  if (points === 0) points = blsWorkspace().mcl.reserve(compressed.length * G1_SIZE);
  for (; loaded < count; loaded++) {
    const known = readCompressed(points + loaded * G1_SIZE, hexToBytes(compressed[loaded]!), 0);
    invariant(known, "the trusted setup holds points of the curve");
  }
  return points;
}

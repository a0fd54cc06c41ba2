import { bigintToFixedBytes } from "../../primitives/bytes.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { blsWorkspace } from "../bls12-381/bls12-381.ts";
import { FP_SIZE, FR_SIZE, G1_SIZE, type Mcl } from "../mcl.ts";
import { invertModulo } from "../modular.ts";
import { BLOB_SCALARS } from "./blob.ts";
import { readCellSetup } from "./cell-setup-file.ts";
import { CELL_SCALARS, CELLS_PER_BLOB } from "./cells.ts";
import { polynomialOf } from "./commit.ts";
import { borrowPoints, linearCombination, writeCompressed, writeInfinity } from "./g1.ts";
import { bitReversed, evaluateAtRoots, SCALAR_ORDER, transform } from "./scalar.ts";

/** Number of 64-coefficient chunks in a blob's polynomial. */
const CHUNKS = BLOB_SCALARS / CELL_SCALARS;

/**
 * The 128 cell proofs of `blob`, 48 bytes each (`compute_cells_and_kzg_proofs` of EIP-7594). Takes a few seconds of the thread.
 *
 * The proof of the cell on the coset h·⟨ω₆₄⟩ is Σⱼ (h⁶⁴)ʲ·Hⱼ with Hⱼ = [⌊p(X) / X^(64(j+1))⌋ at τ], so all proofs are one Fourier transform of
 * the Hⱼ. The Hⱼ are 64 products of a Toeplitz matrix of coefficients with powers of τ. Such a product is pointwise after a Fourier transform of
 * twice the length. The transformed powers of τ are a table of the setup. (Feist and Khovratovich, "Fast amortized KZG proofs".)
 *
 * @throws InvalidBlobError
 */
export async function computeCellProofs(blob: Uint8Array): Promise<Uint8Array[]> {
  const polynomial = polynomialOf(blob);
  table ??= loadTable();
  const transformedPowers = await table;
  // One transformed column for each offset within a chunk; then read by rows.
  const columns = Array.from({ length: CELL_SCALARS }, (_, offset) =>
    evaluateAtRoots(toeplitzColumn(polynomial, offset)),
  );
  const { mcl } = blsWorkspace();
  return borrowPoints(CELLS_PER_BLOB, (points) => {
    for (let row = 0; row < CELLS_PER_BLOB; row++) {
      linearCombination(
        points + row * G1_SIZE,
        transformedPowers + row * CELL_SCALARS * G1_SIZE,
        columns.map((column) => column[row]!),
      );
    }
    transformPoints(mcl, points, true);
    // The product is cyclic: its upper half is discarded.
    for (let i = CHUNKS; i < CELLS_PER_BLOB; i++) writeInfinity(mcl, points + i * G1_SIZE);
    transformPoints(mcl, points, false);
    const proofs = Array.from({ length: CELLS_PER_BLOB }, (_, i) => writeCompressed(points + i * G1_SIZE));
    return bitReversed(proofs);
  });
}

/** First column of the circulant matrix that holds the Toeplitz matrix of the coefficients `offset` before each chunk's end. */
function toeplitzColumn(polynomial: readonly bigint[], offset: number): bigint[] {
  const column = new Array<bigint>(CELLS_PER_BLOB).fill(0n);
  const last = CELL_SCALARS - 1 - offset;
  column[0] = polynomial[(CHUNKS - 1) * CELL_SCALARS + last]!;
  for (let chunk = 1; chunk < CHUNKS - 1; chunk++) {
    column[CHUNKS + 1 + chunk] = polynomial[chunk * CELL_SCALARS + last]!;
  }
  return column;
}

/** Transforms 128 points in a row in place, both ways including the division by the length. */
function transformPoints(mcl: Mcl, points: number, inverse: boolean): void {
  const { module } = mcl;
  const at = (index: number) => points + index * G1_SIZE;
  mcl.borrow(G1_SIZE + FR_SIZE, (product) => {
    const scalar = product + G1_SIZE;
    const multiply = (point: number, by: bigint) => {
      mcl.readScalar(scalar, bigintToFixedBytes(by, 32), 0);
      module.mclBnG1_mul(product, point, scalar);
    };
    const shape = {
      length: CELLS_PER_BLOB,
      swap(a: number, b: number) {
        module.mclBnG1_neg(product, at(a));
        module.mclBnG1_neg(at(a), at(b));
        module.mclBnG1_neg(at(a), at(a));
        module.mclBnG1_neg(at(b), product);
      },
      butterfly(a: number, b: number, root: bigint) {
        multiply(at(b), root);
        module.mclBnG1_sub(at(b), at(a), product);
        module.mclBnG1_add(at(a), at(a), product);
      },
    };
    transform(shape, inverse);
    if (!inverse) return;
    const scale = invertModulo(BigInt(CELLS_PER_BLOB), SCALAR_ORDER);
    for (let i = 0; i < CELLS_PER_BLOB; i++) {
      multiply(at(i), scale);
      module.mclBnG1_neg(at(i), product);
      module.mclBnG1_neg(at(i), at(i));
    }
  });
}

let table: Promise<number> | undefined;

/** 128 rows of 64 points in mcl's memory: for each offset the transformed powers of τ. */
async function loadTable(): Promise<number> {
  const lines = await readCellSetup();
  const { mcl } = blsWorkspace();
  const points = mcl.reserve(lines.length * G1_SIZE);
  lines.forEach((line, i) => {
    const [x, y] = line.slice(2).split(" ") as [string, string];
    const point = points + i * G1_SIZE;
    mcl.readField(point, hexToBytes(`0x${x}`), 0);
    mcl.readField(point + FP_SIZE, hexToBytes(`0x${y}`), 0);
    mcl.module.mclBnFp_setInt32(point + 2 * FP_SIZE, 1);
  });
  return points;
}

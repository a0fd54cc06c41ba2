import assert from "node:assert/strict";
import { test } from "node:test";
import { BLOB_LENGTH } from "./blob.ts";
import { blobCommitment, blobProof } from "./commit.ts";
import { KZG_FAULT_TEXTS } from "./opening.ts";
import { packSidecar, type Sidecar, unpackSidecar } from "./sidecar.ts";
import { VerifiedBlobs } from "./verified-blobs.ts";

/** Not constant: all constant blobs have the same proof. */
const blobs = [1, 2, 3].map((byte) => {
  const blob = new Uint8Array(BLOB_LENGTH).fill(byte);
  blob[BLOB_LENGTH - 1] = 0;
  return blob;
});
const commitments = blobs.map((blob) => blobCommitment(blob));
const proofs = blobs.map((blob, i) => blobProof(blob, commitments[i]!));

function sidecarOf(...indexes: number[]): Sidecar {
  return {
    wrapperVersion: 0,
    blobs: indexes.map((i) => blobs[i]!),
    commitments: indexes.map((i) => commitments[i]!),
    proofs: indexes.map((i) => proofs[i]!),
  };
}

test("each blob is verified once, whichever sidecars have it", () => {
  const verified = new VerifiedBlobs();
  assert.equal(verified.faultOf(sidecarOf(0, 1)), undefined);
  assert.equal(verified.verifications, 2);
  assert.equal(verified.faultOf(sidecarOf(1, 2, 0)), undefined);
  assert.equal(verified.verifications, 3);
});

test("other bytes under the commitment of a verified blob are wrong without a verification", () => {
  const verified = new VerifiedBlobs();
  verified.faultOf(sidecarOf(0));
  const right = sidecarOf(0);
  assert.equal(verified.faultOf({ ...right, proofs: [proofs[1]!] }), KZG_FAULT_TEXTS.proof);
  assert.equal(verified.faultOf({ ...right, blobs: [blobs[1]!] }), KZG_FAULT_TEXTS.proof);
  assert.equal(verified.faultOf({ ...right, proofs: [] }), KZG_FAULT_TEXTS.proof);
  assert.equal(verified.verifications, 1);
  assert.equal(verified.faultOf(right), undefined);
});

test("a wrong sidecar teaches nothing: the right one is accepted later", () => {
  const verified = new VerifiedBlobs();
  const right = sidecarOf(0, 1);
  assert.equal(verified.faultOf({ ...right, proofs: [proofs[0]!, proofs[0]!] }), KZG_FAULT_TEXTS.proof);
  assert.equal(verified.faultOf(right), undefined);
});

test("parts of other numbers or lengths are named", () => {
  const right = sidecarOf(0, 1);
  for (const wrong of [
    { ...right, blobs: [blobs[0]!] },
    { ...right, proofs: [] },
    { ...right, commitments: [commitments[0]!, new Uint8Array(47)] },
  ]) {
    assert.equal(new VerifiedBlobs().faultOf(wrong), "wrong length");
  }
});

test("a sidecar that is packed comes back; one with a part of another length is not packed", () => {
  for (const right of [sidecarOf(0, 1, 2), sidecarOf()]) {
    assert.deepEqual(unpackSidecar(packSidecar(right)!), right);
  }
  const cells = Array.from({ length: 128 }, (_, i) => new Uint8Array(48).fill(i));
  const right: Sidecar = { ...sidecarOf(2), wrapperVersion: 1, proofs: cells };
  assert.deepEqual(unpackSidecar(packSidecar(right)!), right);
  for (const wrong of [
    { ...right, blobs: [new Uint8Array(5)] },
    { ...right, commitments: [] },
    { ...right, proofs: [...cells.slice(1), new Uint8Array(49)] },
    { ...right, proofs: cells.slice(1) },
  ]) {
    assert.equal(packSidecar(wrong), undefined);
  }
});

test("the oldest verified blob is forgotten, and verified again", () => {
  const verified = new VerifiedBlobs(2);
  for (const i of [0, 1, 2]) verified.faultOf(sidecarOf(i));
  verified.faultOf(sidecarOf(2));
  assert.equal(verified.verifications, 3);
  assert.equal(verified.faultOf(sidecarOf(0)), undefined);
  assert.equal(verified.verifications, 4);
});

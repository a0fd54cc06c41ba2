import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  CHAIN_ID,
  createTestPool,
  ETHER,
  GWEI,
  setCodeTransaction,
  testAccount,
  testHeader,
  testKey,
} from "../../../test/support/consensus/mempool/pool-fixture.ts";
import { blobVersionedHash } from "../../base/crypto/kzg/blob.ts";
import { ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { encodePooledTransaction } from "../../base/types/transaction/encode.ts";
import { signTransaction } from "../../base/types/transaction/sign.ts";
import type { BlobSidecar } from "../../base/types/transaction/transaction.ts";
import { BLOB_TX_SIZE_MAX, TX_SIZE_MAX } from "./pool.ts";
import { type AuthorityRecovery, type BlobVerifier, Submissions } from "./submission.ts";

const alice = testAccount(0);
const RULES = { txFeeWeiMax: 0n, allowUnprotected: false };
const COMMITMENT = new Uint8Array(48).fill(7);

const transferFields = {
  chainId: CHAIN_ID,
  gasLimit: 21_000n,
  to: ZERO_ADDRESS,
  value: 0n,
  data: EMPTY_BYTES,
  maxFeePerGas: 100n * GWEI,
  maxPriorityFeePerGas: GWEI,
  accessList: [],
};

/** The network form and hash of a blob transaction of alice's. */
function blobTransaction({ nonce = 0n, version = 1 as 0 | 1 } = {}) {
  const tx = signTransaction(
    {
      type: 3,
      ...transferFields,
      nonce,
      maxFeePerBlobGas: GWEI,
      blobVersionedHashes: [blobVersionedHash(COMMITMENT)],
    },
    testKey(0),
  );
  const sidecar: BlobSidecar = {
    wrapperVersion: version,
    blobs: [new Uint8Array(131_072)],
    commitments: [COMMITMENT],
    proofs: Array.from({ length: version === 1 ? 128 : 1 }, () => new Uint8Array(48)),
  };
  return { hash: tx.hash, raw: encodePooledTransaction(tx, sidecar) };
}

const NO_BLOBS: BlobVerifier = {
  verify: () => Promise.reject(new Error("no blobs here")),
  prove: () => Promise.reject(new Error("no blobs here")),
};

/** A submission whose verifications end when the test says so. */
function submission() {
  const { pool, state } = createTestPool();
  state.set(alice, { balance: ETHER });
  const verifications: ((fault: string | undefined) => void)[] = [];
  const proofs = Array.from({ length: 128 }, (_, i) => new Uint8Array(48).fill(i));
  const commitments = [COMMITMENT];
  const proven: (readonly Uint8Array[])[] = [];
  const blobs: BlobVerifier = {
    verify: () => new Promise((resolve) => verifications.push(resolve)),
    async prove(list) {
      proven.push(list);
      return { commitments, proofs };
    },
  };
  const recoveries: (() => void)[] = [];
  const authorities: AuthorityRecovery = { recover: () => new Promise((resolve) => recoveries.push(resolve)) };
  const { submit } = new Submissions(RULES, { pool, blobs, authorities });
  return { pool, state, submit, verifications, recoveries, proven, proofs, commitments };
}

test("a transaction without blobs is pooled when submit returns", () => {
  const { pool, submit } = submission();
  const tx = signTransaction({ type: 2, ...transferFields, nonce: 0n }, testKey(0));
  assert.equal(submit(tx.raw), tx.hash);
  assert.equal(pool.get(tx.hash)?.sender, alice);
});

test("a transaction whose sender another process recovered is pooled under the same rules", () => {
  const { pool, submit } = submission();
  const tx = signTransaction({ type: 2, ...transferFields, nonce: 0n }, testKey(0));
  const other = signTransaction({ type: 2, ...transferFields, chainId: 7n, nonce: 1n }, testKey(0));
  assert.equal(submit(tx.raw, alice), tx.hash);
  assert.equal(pool.get(tx.hash)?.sender, alice);
  assert.throws(() => submit(tx.raw, alice), { code: "POOL_ALREADY_KNOWN" });
  assert.throws(() => submit(other.raw, alice), { code: "TX_INVALID_SENDER" });
  const modules = { pool, blobs: NO_BLOBS, authorities: { recover: async () => {} } };
  const capped = new Submissions({ ...RULES, txFeeWeiMax: 1n }, modules);
  assert.throws(() => capped.submit(tx.raw, alice), { code: "RPC_FEE_CAP_EXCEEDED" });
});

test("a blob transaction is pooled once its proofs are verified, and not before", async () => {
  const { pool, submit, verifications } = submission();
  const { raw, hash } = blobTransaction();
  const submitted = submit(raw);
  assert.equal(pool.get(hash), undefined);
  verifications[0]!(undefined);
  assert.equal(await submitted, hash);
  assert.ok(pool.get(hash));
});

test("proofs that do not hold are a rejection", async () => {
  const { pool, submit, verifications } = submission();
  const { raw, hash } = blobTransaction();
  const submitted = submit(raw);
  verifications[0]!("proof");
  await assert.rejects(async () => submitted, {
    code: "POOL_KZG_VERIFICATION_FAILED",
    message: "KZG verification error: proof",
  });
  assert.equal(pool.get(hash), undefined);
});

test("balance, nonce and form are checked before the proofs are looked at", async () => {
  const { state, submit, verifications } = submission();
  const { raw } = blobTransaction({ nonce: 2n });
  await assert.rejects(async () => submit(raw), { code: "TX_NONCE_MISMATCH_TOO_HIGH" });
  state.set(alice, { balance: 1n });
  await assert.rejects(async () => submit(blobTransaction().raw), {
    code: "TX_INSUFFICIENT_ACCOUNT_FUNDS",
  });
  assert.equal(verifications.length, 0);
});

test("the same transaction sent again is not verified again", async () => {
  const { submit, verifications } = submission();
  const { raw } = blobTransaction();
  const first = submit(raw);
  const second = submit(raw);
  verifications[0]!(undefined);
  await first;
  await assert.rejects(async () => second, { code: "POOL_ALREADY_KNOWN" });
  assert.equal(verifications.length, 1);
});

test("a copy with wrong proofs does not shut out the transaction", async () => {
  const { pool, submit, verifications } = submission();
  const { raw, hash } = blobTransaction();
  const copy = submit(raw);
  const right = submit(raw);
  verifications[0]!("proof");
  await assert.rejects(async () => copy, { code: "POOL_KZG_VERIFICATION_FAILED" });
  // The other one has its turn once the rejection is known.
  await setImmediate();
  verifications[1]!(undefined);
  assert.equal(await right, hash);
  assert.ok(pool.get(hash));
});

test("a transaction that became impossible during verification is rejected", async () => {
  const { pool, state, submit, verifications } = submission();
  const submitted = submit(blobTransaction().raw);
  state.set(alice, { nonce: 1n });
  pool.onHead({ header: testHeader({ number: 2 }), state });
  verifications[0]!(undefined);
  await assert.rejects(async () => submitted, { code: "TX_NONCE_MISMATCH_TOO_LOW" });
});

test("a sidecar of version 0 is converted to cell proofs after Osaka", async () => {
  const { pool, submit, verifications, proven, proofs } = submission();
  const { raw, hash } = blobTransaction({ version: 0 });
  assert.equal(await submit(raw), hash);
  const { sidecar } = pool.get(hash)!;
  assert.equal(sidecar?.wrapperVersion, 1);
  assert.deepEqual(sidecar?.proofs, proofs);
  assert.equal(proven.length, 1);
  assert.equal(verifications.length, 0);
});

test("a commitment that is not that of the blob is rejected by the conversion", async () => {
  const { pool, submit, commitments } = submission();
  commitments[0] = new Uint8Array(48);
  const { raw, hash } = blobTransaction({ version: 0 });
  await assert.rejects(async () => submit(raw), { code: "POOL_KZG_VERIFICATION_FAILED" });
  assert.equal(pool.get(hash as Hash), undefined);
});

test("a transaction with many authorizations is pooled once their signers are known, sent again or not", async () => {
  const { pool, submit, recoveries } = submission();
  const { raw, hash } = setCodeTransaction({ authorizations: 10 });
  const first = submit(raw);
  const second = submit(raw);
  assert.deepEqual([pool.get(hash), recoveries.length], [undefined, 1]);
  recoveries[0]!();
  assert.equal(await first, hash);
  await assert.rejects(async () => second, { code: "POOL_ALREADY_KNOWN" });
  assert.equal(recoveries.length, 1);
  assert.equal(pool.get(hash)?.sender, alice);
  const few = setCodeTransaction({ nonce: 1n, authorizations: 2 });
  assert.equal(submit(few.raw), few.hash);
});

test("a transaction with many authorizations that is rejected for another reason costs no signature recovery", async () => {
  const { pool, submit, recoveries } = submission();
  pool.add({ tx: setCodeTransaction({ authorizations: 1 }) });
  const underpriced = setCodeTransaction({ authorizations: 10, fee: 101n * GWEI });
  await assert.rejects(async () => submit(underpriced.raw), { code: "POOL_REPLACEMENT_UNDERPRICED" });
  assert.equal(recoveries.length, 0);
});

test("input larger than any transaction of its type is rejected before decoding", () => {
  const { submit } = submission();
  for (const [type, size] of [
    [0xfa, TX_SIZE_MAX],
    [0x01, TX_SIZE_MAX],
    [0x02, TX_SIZE_MAX],
    [0x03, BLOB_TX_SIZE_MAX],
    [0x04, TX_SIZE_MAX],
  ] as const) {
    const bytes = new Uint8Array(size + 1);
    bytes[0] = type;
    // What follows is no RLP of a transaction.
    assert.throws(() => submit(bytes), { code: "POOL_OVERSIZED_DATA" });
  }
});

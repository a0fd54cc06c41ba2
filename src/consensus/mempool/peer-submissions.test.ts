import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import {
  CHAIN_ID,
  createTestPool,
  ETHER,
  GWEI,
  setCodeTransaction,
  testAccount,
  testHeader,
  testKey,
  transfer,
} from "../../../test/support/consensus/mempool/pool-fixture.ts";
import { blobVersionedHash } from "../../base/crypto/kzg/blob.ts";
import { ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import { signTransaction } from "../../base/types/transaction/sign.ts";
import type { BlobSidecar } from "../../base/types/transaction/transaction.ts";
import { PeerSubmissions } from "./peer-submissions.ts";

const ACCOUNTS = 20;

/** A blob transaction of the `key`-th account, whose proofs are all of byte `proof`. */
function blobSubmission(key: number, proof = 0, version: 0 | 1 = 1) {
  const commitment = new Uint8Array(48).fill(7);
  const tx = signTransaction(
    {
      type: 3,
      chainId: CHAIN_ID,
      nonce: 0n,
      gasLimit: 21_000n,
      to: ZERO_ADDRESS,
      value: 0n,
      data: EMPTY_BYTES,
      maxFeePerGas: 100n * GWEI,
      maxPriorityFeePerGas: GWEI,
      maxFeePerBlobGas: GWEI,
      accessList: [],
      blobVersionedHashes: [blobVersionedHash(commitment)],
    },
    testKey(key),
  );
  const count = version === 1 ? 128 : 1;
  const sidecar: BlobSidecar = {
    wrapperVersion: version,
    blobs: [new Uint8Array(131_072)],
    commitments: [commitment],
    proofs: Array.from({ length: count }, () => new Uint8Array(48).fill(proof)),
  };
  return { tx, sidecar };
}

/** Verifications and pauses end when the test says so. */
function peerSubmissions() {
  const { pool, state } = createTestPool();
  for (let i = 0; i < ACCOUNTS; i++) state.set(testAccount(i), { balance: ETHER });
  const verifications: ((fault: string | undefined) => void)[] = [];
  const recoveries: (() => void)[] = [];
  const pauses: number[] = [];
  const submissions = new PeerSubmissions({
    pool,
    blobs: { verifyForPeer: () => new Promise((resolve) => verifications.push(resolve)) },
    authorities: { recover: () => new Promise((resolve) => recoveries.push(resolve)) },
    log: SILENT_LOGGER,
    timers: { sleep: async (ms) => void pauses.push(ms) },
  });
  let runs = 0;
  const run = (add: () => void) => {
    runs++;
    add();
  };
  return { pool, state, submissions, verifications, recoveries, pauses, run, runs: () => runs };
}

test("a transaction without blobs is pooled when submit returns", () => {
  const { pool, submissions, run, runs } = peerSubmissions();
  const submission = transfer(testAccount(0), 0);
  submissions.submit(submission, run);
  assert.ok(pool.get(submission.tx.hash));
  assert.equal(runs(), 1);
});

test("submit returns before a proof is looked at, and the transaction is pooled once it holds", async () => {
  const { pool, submissions, verifications, run, runs } = peerSubmissions();
  const submission = blobSubmission(0);
  submissions.submit(submission, run);
  assert.equal(pool.get(submission.tx.hash), undefined);
  assert.equal(runs(), 0);
  verifications[0]!(undefined);
  await setImmediate();
  assert.ok(pool.get(submission.tx.hash));
  assert.equal(runs(), 1);
  assert.equal(submissions.waiting, 0);
});

test("form, funds and number are checked at once, and nothing of it is verified", () => {
  const { state, submissions, verifications, run } = peerSubmissions();
  const { tx } = blobSubmission(0);
  for (const [submission, code] of [
    [{ tx }, "POOL_MISSING_SIDECAR"],
    [blobSubmission(0, 0, 0), "POOL_WRONG_SIDECAR_FORMAT"],
    [{ tx, sidecar: { ...blobSubmission(0).sidecar, commitments: [new Uint8Array(48)] } }, "POOL_SIDECAR_MISMATCH"],
  ] as const) {
    assert.throws(() => submissions.submit(submission, run), { code });
  }
  state.set(testAccount(1), { balance: 1n });
  assert.throws(() => submissions.submit(blobSubmission(1), run), {
    code: "TX_INSUFFICIENT_ACCOUNT_FUNDS",
  });
  assert.equal(verifications.length, 0);
});

test("one proof is verified at a time; of many that wait the newest is turned away", () => {
  const { submissions, verifications, run } = peerSubmissions();
  for (let i = 0; i < 16; i++) submissions.submit(blobSubmission(i), run);
  assert.equal(verifications.length, 1);
  assert.throws(() => submissions.submit(blobSubmission(16), run), {
    code: "POOL_PEER_QUEUE_FULL",
  });
});

test("wrong proofs in a row are verified ever more slowly; a right one ends that", async () => {
  const { pool, submissions, verifications, pauses, run } = peerSubmissions();
  for (let i = 0; i < 10; i++) submissions.submit(blobSubmission(i), run);
  for (let i = 0; i < 8; i++) {
    verifications[i]!("proof");
    await setImmediate();
  }
  assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  verifications[8]!(undefined);
  await setImmediate();
  assert.equal(pauses.length, 8);
  verifications[9]!("proof");
  await setImmediate();
  assert.equal(pauses.at(-1), 100);
  assert.deepEqual(pool.counts(), { pending: 1, queued: 0 });
});

test("the same submission is taken once; one with other proofs is another, and the right one is pooled", async () => {
  const { pool, submissions, verifications, run } = peerSubmissions();
  const [wrong, right] = [blobSubmission(0, 1), blobSubmission(0, 2)];
  submissions.submit(wrong, run);
  assert.throws(() => submissions.submit(blobSubmission(0, 1), run), {
    code: "POOL_ALREADY_KNOWN",
  });
  submissions.submit(right, run);
  verifications[0]!("proof");
  await setImmediate();
  verifications[1]!(undefined);
  await setImmediate();
  assert.deepEqual(pool.get(right.tx.hash)?.sidecar, right.sidecar);
});

test("a verification that fails, or a pool that has changed, ends neither the queue nor the process", async () => {
  const { pool, state, submissions, verifications, run } = peerSubmissions();
  const failing = new PeerSubmissions({
    pool,
    blobs: { verifyForPeer: () => Promise.reject(new Error("thread lost")) },
    authorities: { recover: () => Promise.reject(new Error("thread lost")) },
    log: SILENT_LOGGER,
    timers: new ManualTimers(),
  });
  failing.submit(blobSubmission(3), run);
  await setImmediate();
  assert.equal(failing.waiting, 0);
  submissions.submit(blobSubmission(0), run);
  submissions.submit(blobSubmission(1), run);
  state.set(testAccount(0), { nonce: 1n, balance: ETHER });
  pool.onHead({ header: testHeader({ number: 2 }), state });
  verifications[0]!(undefined);
  await setImmediate();
  verifications[1]!(undefined);
  await setImmediate();
  assert.equal(submissions.waiting, 0);
  assert.deepEqual(pool.counts(), { pending: 1, queued: 0 });
});

test("a transaction with many authorizations is pooled once their signers are known, and waits behind the others", async () => {
  const { pool, submissions, verifications, recoveries, run, runs } = peerSubmissions();
  const tx = setCodeTransaction({ authorizations: 10 });
  submissions.submit(blobSubmission(1), run);
  submissions.submit({ tx }, run);
  assert.throws(() => submissions.submit({ tx }, run), { code: "POOL_ALREADY_KNOWN" });
  assert.deepEqual([submissions.waiting, recoveries.length], [2, 0]);
  verifications[0]!(undefined);
  await setImmediate();
  assert.deepEqual([runs(), recoveries.length], [1, 1]);
  recoveries[0]!();
  await setImmediate();
  assert.equal(pool.get(tx.hash)?.sender, testAccount(0));
  const few = setCodeTransaction({ nonce: 1n, authorizations: 2 });
  submissions.submit({ tx: few }, run);
  assert.ok(pool.get(few.hash));
});

test("a transaction with many authorizations that is rejected for another reason costs no signature recovery", () => {
  const { submissions, state, recoveries, run } = peerSubmissions();
  state.set(testAccount(0), { balance: 1n });
  const tx = setCodeTransaction({ authorizations: 10 });
  assert.throws(() => submissions.submit({ tx }, run), { code: "TX_INSUFFICIENT_ACCOUNT_FUNDS" });
  assert.deepEqual([submissions.waiting, recoveries.length], [0, 0]);
});

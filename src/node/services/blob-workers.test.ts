import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { blobCommitment, blobProof } from "../../base/crypto/kzg/commit.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { BlobSidecar } from "../../base/types/transaction/transaction.ts";
import { createBlobWorkers } from "./blob-workers.ts";

const blob = new Uint8Array(131_072).fill(1);
const commitment = blobCommitment(blob);
const valid: BlobSidecar = {
  wrapperVersion: 0,
  blobs: [blob],
  commitments: [commitment],
  proofs: [blobProof(blob, commitment)],
};

test("createBlobWorkers verifies in order, says what is wrong, and bounds what waits", async (t) => {
  const workers = createBlobWorkers({ verificationsMax: 2, proofsMax: 1 }, { log: STRICT_LOGGER, timers: fatalTimers });
  t.after(() => workers.close());
  const wrong = { ...valid, proofs: [commitment] };
  const running = [workers.verify(valid), workers.verify(wrong), workers.verify(valid)];
  assert.equal(workers.waiting().verifications, 3);
  await assert.rejects(workers.verify(valid), { code: "POOL_BLOB_QUEUE_FULL" });
  assert.deepEqual(await Promise.all(running), [undefined, "can't verify opening proof", undefined]);
  assert.equal(workers.waiting().verifications, 0);
  assert.equal(await workers.verify(valid), undefined);
});

test("createBlobWorkers rejects bytes that are no blob for both of its callers", async (t) => {
  const workers = createBlobWorkers({ verificationsMax: 1, proofsMax: 1 }, { log: STRICT_LOGGER, timers: fatalTimers });
  t.after(() => workers.close());
  const noBlob = new Uint8Array(131_072).fill(0xff);
  const [conversion, request] = await Promise.allSettled([
    workers.prove([noBlob], 1),
    workers.prover.proveBlobs({ blobs: [noBlob], wrapperVersion: 0 }),
  ]);
  assert.equal((conversion as PromiseRejectedResult).reason.code, "POOL_KZG_VERIFICATION_FAILED");
  assert.equal((request as PromiseRejectedResult).reason.code, "RPC_TRANSACTION_FIELDS");
  const tooMany = [1, 2, 3].map(() => workers.prover.proveBlobs({ blobs: [noBlob], wrapperVersion: 0 }));
  const codes = (await Promise.allSettled(tooMany)).map((result) => (result as PromiseRejectedResult).reason.code);
  assert.deepEqual(codes, ["RPC_TRANSACTION_FIELDS", "RPC_TRANSACTION_FIELDS", "POOL_BLOB_QUEUE_FULL"]);
});

test("a task that is running when the workers close fails", async () => {
  const workers = createBlobWorkers({ verificationsMax: 1, proofsMax: 1 }, { log: STRICT_LOGGER, timers: fatalTimers });
  const running = workers.verify(valid);
  workers.close();
  await assert.rejects(running, { code: "WORKER_TASK_FAILED" });
  assert.equal(workers.waiting().verifications, 0);
});

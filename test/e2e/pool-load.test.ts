import assert from "node:assert/strict";
import { test } from "node:test";
import { blobVersionedHash } from "../../src/base/crypto/kzg/blob.ts";
import { blobCommitment, blobProof } from "../../src/base/crypto/kzg/commit.ts";
import { parseAddress } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { encodePooledTransaction } from "../../src/base/types/transaction/encode.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { transfer } from "../support/made-chain.ts";
import { metricOf, WITH_METRICS } from "../support/metrics.ts";
import { devPrivateKeys } from "../support/node/keystore/unlocked-signer.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode } from "../support/test-node.ts";

const MANUAL = { "consensus.block-time": "manual" };

test("7,000 transfers of 10 accounts are pooled while no block is made, and in the blocks that follow", async (t) => {
  const node = await startTestNode({ dev: true, settings: { ...MANUAL, ...WITH_METRICS } });
  t.after(() => node.stop());
  const { core } = node.node;
  const hashes: Hash[] = [];
  const keys = devPrivateKeys();
  for (let nonce = 0n; nonce < 700n; nonce++) {
    for (const key of keys) {
      const hash = await core.pool.submit(hexToBytes(transfer(nonce, 31_337n, key)));
      assert.ok(core.pool.mempool.get(hash), "a hash means the transaction is pooled");
      hashes.push(hash);
    }
  }
  assert.deepEqual(core.pool.mempool.counts(), { pending: 7_000, queued: 0 });
  assert.ok(hashes.every((hash) => core.pool.mempool.get(hash)));
  // A block takes what it can execute in its time.
  while (core.pool.mempool.counts().pending > 0) node.produceBlock();
  assert.ok(hashes.every((hash) => core.chain.transaction(hash)));
  assert.equal(await metricOf(node, "txpool_removed_total", 'reason="included"'), 7_000);
});

test("a limit of the pool is a rejection with geth's text, and what was accepted stays", async (t) => {
  const settings = { ...MANUAL, "mempool.account-slots": "3", "mempool.size-limit": "8KB" };
  const node = await startTestNode({ dev: true, settings });
  t.after(() => node.stop());
  const { core } = node.node;
  const keys = devPrivateKeys();
  const accepted: Hash[] = [];
  const submit = async (nonce: bigint, key: number) => {
    accepted.push(await core.pool.submit(hexToBytes(transfer(nonce, 31_337n, keys[key]))));
  };
  for (const nonce of [0n, 1n, 2n]) await submit(nonce, 0);
  await assert.rejects(submit(3n, 0), {
    code: "POOL_ACCOUNT_LIMIT_EXCEEDED",
    message: "account limit exceeded: pooled 3 txs",
  });
  await submit(0n, 1);
  await assert.rejects(submit(0n, 2), {
    code: "POOL_UNDERPRICED",
    message: "transaction underpriced",
  });
  assert.equal(accepted.length, 4);
  assert.ok(accepted.every((hash) => core.pool.mempool.get(hash)));
});

test("blobs with proofs of before Osaka are converted by a thread, and other callers are answered meanwhile", async (t) => {
  const node = await startTestNode({ dev: true, settings: MANUAL });
  t.after(() => node.stop());
  const blob = new Uint8Array(131_072).fill(3);
  const commitment = blobCommitment(blob);
  const tx = signTransaction(
    {
      type: 3,
      chainId: 31_337n,
      nonce: 0n,
      gasLimit: 21_000n,
      accessList: [],
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
      maxFeePerBlobGas: 10n ** 9n,
      to: parseAddress(DEV_ADDRESSES[1]),
      value: 0n,
      data: new Uint8Array(),
      blobVersionedHashes: [blobVersionedHash(commitment)],
    },
    devPrivateKeys()[0]!,
  );
  const sidecar = {
    wrapperVersion: 0 as const,
    blobs: [blob],
    commitments: [commitment],
    proofs: [blobProof(blob, commitment)],
  };
  const call = async (method: string, params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    return (await fetch(node.url, { method: "POST", headers, body })).json() as Promise<object>;
  };
  const raw = bytesToHex(encodePooledTransaction(tx, sidecar));
  const order: string[] = [];
  const sent = call("eth_sendRawTransaction", [raw]).then((answer) => {
    order.push("sent");
    return answer;
  });
  for (let i = 0; i < 5; i++) {
    await call("eth_blockNumber", []);
    order.push("asked");
  }
  assert.deepEqual(await sent, { jsonrpc: "2.0", id: 1, result: tx.hash });
  assert.deepEqual(order, ["asked", "asked", "asked", "asked", "asked", "sent"]);
  const pooled = node.node.core.pool.mempool.get(tx.hash);
  assert.equal(pooled?.sidecar?.wrapperVersion, 1);
  assert.equal(pooled?.sidecar?.proofs.length, 128);
  // What was converted has proofs that hold: sent by another transaction it is verified.
  node.produceBlock();
  assert.ok(node.node.core.chain.transaction(tx.hash));
});

test("given proofs are verified by a thread, of six blobs at most, and other callers are answered meanwhile", async (t) => {
  const node = await startTestNode({ dev: true, settings: MANUAL });
  t.after(() => node.stop());
  const blob = new Uint8Array(131_072).fill(3);
  const commitment = bytesToHex(blobCommitment(blob));
  // A point, so that all of the arithmetic is done, and wrong, because the blob is not constant zero.
  const request = (count: number) => ({
    from: DEV_ADDRESSES[0],
    to: DEV_ADDRESSES[1],
    blobs: Array(count).fill(bytesToHex(blob)),
    commitments: Array(count).fill(commitment),
    proofs: Array(count * 128).fill(commitment),
  });
  const order: string[] = [];
  const filled = callHttp(node.url, "eth_fillTransaction", [request(6)]).then((answer) => {
    order.push("filled");
    return answer;
  });
  for (let i = 0; i < 5; i++) {
    await callHttp(node.url, "eth_blockNumber", []);
    order.push("asked");
  }
  assert.equal((await filled).error?.code, -32000);
  assert.deepEqual(order, ["asked", "asked", "asked", "asked", "asked", "filled"]);
  for (const count of [7, 12, 17]) {
    const { error } = await callHttp(node.url, "eth_fillTransaction", [request(count)]);
    assert.equal(error?.code, -32000);
    assert.equal(error?.message, `too many blobs in transaction (have=${count}, max=6)`);
  }
});

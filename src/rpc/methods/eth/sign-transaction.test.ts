import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, BOB, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { BLOB_LENGTH } from "../../../base/crypto/kzg/blob.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import { decodeTransaction } from "../../../base/types/transaction/decode.ts";
import { recoverSender } from "../../../base/types/transaction/sender.ts";
import { signTransaction } from "./sign.ts";
import { fillTransaction } from "./submit.ts";

type Signed = { raw: Hex; tx: Record<string, unknown> };
const modules = createTestModules();
const complete = {
  from: ALICE,
  to: BOB,
  gas: "0x5208",
  nonce: "0x9",
  maxFeePerGas: "0x77359400",
  maxPriorityFeePerGas: "0x1",
};

test("eth_signTransaction gives the signed transaction and submits nothing", async () => {
  const { raw, tx } = (await signTransaction.call(modules, [complete])) as Signed;
  const decoded = decodeTransaction(hexToBytes(raw));
  assert.equal(recoverSender(decoded), ALICE);
  assert.equal(tx["hash"], decoded.hash);
  assert.deepEqual([tx["gasPrice"], tx["nonce"], tx["gas"]], [null, "0x9", "0x5208"]);
  assert.ok(!("from" in tx) && !("blockHash" in tx));
  assert.equal(modules.submitted.length, 0);
});

test("eth_signTransaction makes up neither gas nor price nor nonce", async () => {
  for (const missing of ["gas", "maxFeePerGas", "nonce"]) {
    await assert.rejects(signTransaction.call(modules, [{ ...complete, [missing]: undefined }]), {
      code: "RPC_TRANSACTION_FIELDS",
    });
  }
  await assert.rejects(signTransaction.call(modules, [{ ...complete, from: BOB }]), {
    code: "ACCOUNT_UNKNOWN",
  });
  await assert.rejects(signTransaction.call(modules, [{ ...complete, maxFeePerGas: "0xffffffffffffff" }]), {
    code: "RPC_FEE_CAP_EXCEEDED",
  });
});

test("eth_fillTransaction gives everything but the signature", async () => {
  const { raw, tx } = (await fillTransaction.call(modules, [{ from: ALICE, to: BOB }])) as Signed;
  assert.equal(bytesToHex(decodeTransaction(hexToBytes(raw)).raw), raw);
  assert.deepEqual([tx["gas"], tx["nonce"], tx["type"]], ["0x5208", "0x4", "0x2"]);
  assert.deepEqual([tx["v"], tx["r"], tx["s"]], ["0x0", "0x0", "0x0"]);
  const legacy = (await fillTransaction.call(modules, [{ to: BOB, gasPrice: "0x5" }])) as Signed;
  assert.ok(!("chainId" in legacy.tx));
});

test("eth_fillTransaction shows blobs of a blob transaction alone: with a gasPrice it is a legacy one", async () => {
  const blobs = [`0x${"00".repeat(BLOB_LENGTH)}`];
  const fees = { maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x1", maxFeePerBlobGas: "0x1" };
  const base = { from: ALICE, to: BOB, gas: "0x5208", blobs };
  const { tx } = (await fillTransaction.call(modules, [{ ...base, ...fees }])) as Signed;
  assert.deepEqual([tx["type"], tx["blobs"]], ["0x3", blobs]);
  const old = (await fillTransaction.call(modules, [{ ...base, gasPrice: "0x77359400" }])) as Signed;
  assert.equal(old.tx["type"], "0x0");
  for (const part of ["blobs", "commitments", "proofs"]) assert.ok(!(part in old.tx), part);
});

test("eth_signTransaction and eth_fillTransaction refuse what no pool takes", async () => {
  const word = `0x${"11".repeat(32)}`;
  const authorization = { chainId: "0x1", address: BOB, nonce: "0x0", yParity: "0x0", r: "0x1", s: "0x1" };
  for (const large of [
    { data: `0x${"11".repeat(131_073)}` },
    { accessList: [{ address: BOB, storageKeys: Array.from({ length: 4_000 }, () => word) }] },
    { accessList: Array.from({ length: 6_000 }, () => ({ address: BOB, storageKeys: [] })) },
    { authorizationList: Array.from({ length: 5_000 }, () => authorization) },
  ]) {
    for (const method of [signTransaction, fillTransaction]) {
      await assert.rejects(method.call(modules, [{ ...complete, gas: "0xffffff", ...large }]), {
        code: "POOL_OVERSIZED_DATA",
      });
    }
  }
});

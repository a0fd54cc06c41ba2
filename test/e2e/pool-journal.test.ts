import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { createWalletClient, type WalletClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { bearer, overHttp } from "../support/clients.ts";
import { transfer } from "../support/made-chain.ts";
import { devPrivateKeys } from "../support/node/keystore/unlocked-signer.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { patientHttp } from "../support/viem-clients.ts";

let home: string;
let node: TestNode;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-journal-"));
});
afterEach(async () => {
  await node.stop();
  rmSync(home, { recursive: true, force: true });
});

async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  node = await startTestNode({
    dev: true,
    home,
    settings: { "consensus.block-time": "manual", ...settings },
  });
}

async function send(nonce: number, fields: object = {}): Promise<string> {
  const wallet: WalletClient = createWalletClient({ transport: patientHttp(node.url) });
  return wallet.sendTransaction({
    account: privateKeyToAccount(DEV_KEYS[0]),
    chain: null,
    to: DEV_ADDRESSES[1],
    value: 1n,
    gas: 21_000n,
    nonce,
    ...fields,
  });
}

const counts = () => {
  const { pending, queued } = node.node.core.pool.mempool.counts();
  return [pending, queued];
};

test("debug_clearTxpool empties the pool and its journal", async () => {
  await start();
  for (const nonce of [0, 1, 3]) await send(nonce);
  assert.deepEqual(counts(), [2, 1]);
  assert.equal((await overHttp(node.url, "debug_clearTxpool", [], bearer(home))).result, null);
  assert.deepEqual(counts(), [0, 0]);
  // The nonces are free again.
  await send(0);
  await node.stop();
  await start();
  assert.deepEqual(counts(), [1, 0]);
});

test("transactions that wait are there after the next start, those behind a gap too, none twice", async () => {
  await start();
  await send(0, { gasPrice: 3_000_000_000n });
  await send(0, { gasPrice: 6_000_000_000n });
  await send(1);
  await send(3);
  assert.deepEqual(counts(), [2, 1]);
  await assert.rejects(send(3));

  await node.stop();
  await start();
  assert.deepEqual(counts(), [2, 1]);
  await send(2);
  assert.deepEqual(counts(), [4, 0]);
  node.produceBlock();
  assert.equal(node.node.core.chain.head().block.transactions.length, 4);

  await node.stop();
  await start();
  assert.deepEqual(counts(), [0, 0]);
});

test("five thousand of them are all back, in order, none twice", async () => {
  await start();
  const keys = devPrivateKeys();
  for (let nonce = 0n; nonce < 500n; nonce++) {
    for (const key of keys) await node.node.core.pool.submit(hexToBytes(transfer(nonce, 31_337n, key)));
  }
  assert.deepEqual(counts(), [5_000, 0]);
  await node.stop();
  await start();
  assert.deepEqual(counts(), [5_000, 0]);
  for (const list of node.node.core.pool.mempool.content().pending.values()) {
    assert.deepEqual(
      list.map(({ tx }) => tx.nonce),
      Array.from({ length: 500 }, (_, nonce) => BigInt(nonce)),
    );
  }
});

test("a start in instant mode puts them into a block", async () => {
  await start();
  const hash = await send(0);
  await node.stop();
  await start({ "consensus.block-time": "instant" });
  const { chain } = node.node.core;
  await new Promise<void>((resolve) => {
    if (chain.head().block.header.number > 0) resolve();
    else chain.subscribe(() => resolve());
  });
  assert.equal(chain.head().block.transactions[0]?.hash, hash);
});

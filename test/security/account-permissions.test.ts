import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createWalletClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import type { TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";
import { patientHttp } from "../support/viem-clients.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-permissions-"));
const file = join(folder, "accounts.json");
const [first, second, third] = DEV_ADDRESSES as readonly `0x${string}`[];
let node: TestNode;

before(async () => {
  writeFileSync(file, JSON.stringify({ send: [first, second], deploy: [first] }));
  node = await startConfiguredNode({
    settings: { "mempool.allowed-accounts": file },
    expectedErrors: [/^error mempool: rejecting all transactions: mempool\.allowed-accounts cannot be read /],
  });
});
after(async () => {
  await node.stop();
  rmSync(folder, { recursive: true });
});

/** @returns the error's text; undefined where the transaction was accepted */
async function send(index: number, to: `0x${string}` | undefined): Promise<string | undefined> {
  const account = privateKeyToAccount(DEV_KEYS[index]!);
  const wallet = createWalletClient({ account, transport: patientHttp(node.url, { retryCount: 0 }) });
  try {
    await wallet.sendTransaction({
      chain: null,
      to,
      ...(to === undefined ? { data: "0x00" as const } : { value: 1n }),
    });
    return undefined;
  } catch (error) {
    return (error as { readonly details?: string }).details ?? String(error);
  }
}

test("accounts of the file send, and those of its other list create contracts; the rest is rejected", async () => {
  assert.equal(await send(0, third), undefined);
  assert.equal(await send(0, undefined), undefined);
  assert.equal(await send(1, third), undefined);
  assert.match((await send(1, undefined)) ?? "", /may not create contracts/);
  assert.match((await send(2, first)) ?? "", /may not send transactions/);
});

test("a change counts while the node runs; while the file is damaged nobody may", async () => {
  writeFileSync(file, JSON.stringify({ send: [third] }));
  await until(async () => (await send(2, undefined)) === undefined, "the changed file");
  assert.match((await send(0, third)) ?? "", /may not send transactions/);
  for (const damaged of ["", "[]", '{"sends":[]}', '{"send":["0x00"]}', '{"send":"all"}']) {
    writeFileSync(file, damaged);
    await until(async () => /may not send/.test((await send(2, first)) ?? ""), `the effect of ${damaged}`);
    writeFileSync(file, "{}");
    await until(async () => (await send(0, third)) === undefined, "the repaired file");
  }
});

test("a node whose file cannot be read at the start does not start", async () => {
  const settings = { "mempool.allowed-accounts": join(folder, "missing.json") };
  await assert.rejects(startConfiguredNode({ settings }), /mempool\.allowed-accounts/);
});

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../../../../test/support/until.ts";
import { createNode } from "../../../index.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-state-files-"));
after(() => rmSync(folder, { recursive: true }));

const STRANGER = "0x00000000000000000000000000000000000beef1";
const WORD = `0x${"00".repeat(31)}07` as const;

test("a dev chain leaves its accounts and blocks in a file, with which another begins", async () => {
  const file = join(folder, "state.json");
  const first = await createNode({ settings: { "dump-state": file } });
  await first.setBalance(STRANGER, 5n);
  await first.setCode(STRANGER, "0x6001");
  await first.setStorageAt(STRANGER, 1, 7);
  const { address } = first.accounts[0]!;
  const sent = await first.rpc.eth_sendTransaction({ from: address, to: STRANGER, value: 1n });
  await first.stop();

  const home = join(folder, "home");
  const options = { home, settings: { "load-state": file } };
  const second = await createNode(options);
  assert.equal(await second.rpc.eth_blockNumber(), "0x1");
  assert.equal((await second.rpc.eth_getTransactionByHash(sent))?.blockNumber, "0x1");
  assert.equal(await second.rpc.eth_getBalance(STRANGER), "0x6");
  assert.equal(await second.rpc.eth_getCode(STRANGER), "0x6001");
  assert.equal(await second.rpc.eth_getStorageAt(STRANGER, "0x1"), WORD);
  assert.equal(await second.rpc.eth_getTransactionCount(address), "0x1");
  await second.setBalance(STRANGER, 9n);
  await second.stop();

  // The chain exists now: the file does not overwrite it.
  const third = await createNode({ ...options, dev: true });
  third.produceBlock();
  await third.stop();
  const fourth = await createNode({ ...options, dev: true });
  assert.equal(await fourth.rpc.eth_getBalance(STRANGER), "0x9");
  await fourth.stop();
});

test("the file is written while the node runs, too", async () => {
  const file = join(folder, "running.json");
  const settings = { "dump-state": file, "state-interval": "20ms" };
  await using node = await createNode({ settings });
  await node.setBalance(STRANGER, 5n);
  const balance = () => {
    try {
      const { accounts } = JSON.parse(readFileSync(file, "utf8"));
      return accounts[STRANGER]?.balance;
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOENT");
      return undefined;
    }
  };
  await until(() => balance() === "0x5", "the state of the last block");
});

test("a file that is missing or holds no state stops the start", async () => {
  const start = (file: string) => createNode({ settings: { "load-state": file } });
  await assert.rejects(start(join(folder, "missing.json")), { code: "CONFIG_INVALID" });
  const file = join(folder, "other.json");
  writeFileSync(file, "[]");
  await assert.rejects(start(file), (error: NodeJS.ErrnoException) => {
    assert.equal(error.code, "CONFIG_INVALID");
    return error.message.includes(file);
  });
});

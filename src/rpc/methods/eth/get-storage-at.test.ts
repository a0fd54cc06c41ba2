import assert from "node:assert/strict";
import { test } from "node:test";
import { BOB, CONTRACT, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { getStorageAt } from "./state.ts";

const modules = createTestModules();
const value = `0x${"0".repeat(62)}2a`;

test("eth_getStorageAt is always 32 bytes, whatever form the position has", async () => {
  for (const position of ["0x1", "1", "0x01", `0x${"1".padStart(64, "0")}`]) {
    assert.equal(await getStorageAt.call(modules, [CONTRACT, position, "latest"]), value);
  }
  for (const [account, position] of [
    [CONTRACT, "0x2"],
    [CONTRACT, ""],
    [BOB, "0x1"],
  ]) {
    assert.equal(await getStorageAt.call(modules, [account, position]), ZERO_HASH);
  }
});

test("eth_getStorageAt refuses a position of more than 32 bytes or no hex", async () => {
  for (const position of [`0x${"0".repeat(65)}`, "0xzz"]) {
    await assert.rejects(getStorageAt.call(modules, [CONTRACT, position]), {
      code: "RPC_INVALID_PARAMS",
    });
  }
});

test("eth_getStorageAt looks for the block before it reads the position", async () => {
  await assert.rejects(getStorageAt.call(modules, [CONTRACT, "0xzz", "0xff"]), {
    code: "RPC_UNKNOWN_BLOCK",
  });
});

test("eth_getStorageAt repeats the beginning of a position in its error, not megabytes", async () => {
  await assert.rejects(getStorageAt.call(modules, [CONTRACT, `0x${"1".repeat(1_000_000)}`]), ({ message }: Error) => {
    assert.ok(message.length < 256, `${message.length} characters`);
    return true;
  });
});

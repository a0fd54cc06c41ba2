import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/node/config/load.ts";
import { nodeOperations } from "../../src/node/roles/operations.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { NEEDS_SOLO } from "../support/test-engine.ts";
import { ONE_PROCESS, startTestNode } from "../support/test-node.ts";

/** Stores the balance of the account in its argument under that account, and logs it: creation code. */
const PROBE = "0x695f35803181555f5fa1005f52600a6016f3";
const account = (digit: string) => `0x${"0".repeat(24)}${digit.repeat(40)}`;

test("db check from a block on names the blocks that another node would not take, and no other", {
  skip: NEEDS_SOLO,
}, async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-again-"));
  const settings = { ...ONE_PROCESS, "consensus.block-time": "instant" };
  try {
    const node = await startTestNode({ dev: true, home, settings });
    const request = (method: string, ...params: unknown[]) => node.node.provider.request({ method, params });
    const [from] = DEV_ADDRESSES;
    const send = async (transaction: object, block: number) => {
      await request("eth_sendTransaction", { from, ...transaction });
      await node.untilBlock(block);
    };
    await send({ data: PROBE }, 1);
    const { contractAddress: to } = (
      (await request("eth_getBlockReceipts", "0x1")) as { contractAddress: string }[]
    )[0]!;
    await send({ to, data: account("1") }, 2);
    // In no block: the next one is made on a state that the blocks do not lead to.
    await request("anvil_setBalance", `0x${"2".repeat(40)}`, "0x7");
    await send({ to, data: account("2") }, 3);
    await send({ to, data: account("3") }, 4);
    await node.stop();

    const { config } = loadConfig({ home, dev: true, flags: settings, environment: {} });
    const check = (first?: number) =>
      nodeOperations.checkStore(config, STRICT_LOGGER, {
        onProgress() {},
        signal: new AbortController().signal,
        from: first,
      });
    assert.deepEqual(await check(), { head: 4, faults: [] });
    const { faults } = await check(1);
    assert.equal(faults.length, 1);
    assert.match(faults[0]!, /^re-executed block 3: invalid gas used/);
    assert.deepEqual((await check(4)).faults, []);
    for (const first of [0, 5]) await assert.rejects(check(first), { code: "UNKNOWN_RANGE" });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

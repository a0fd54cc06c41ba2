/** A dev chain that continues the state after one transaction, or so many blocks before the newest one, of a node in a process of its own. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createNode, type EvmintNode } from "../../src/index.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { overHttp } from "../support/clients.ts";
import { startEvmintd } from "../support/evmintd.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
const COUNTED = "0x00000000000000000000000000000000000beef1";

let remote: Awaited<ReturnType<typeof startEvmintd>>;
const home = mkdtempSync(join(tmpdir(), "evmint-remote-"));
/** Transactions of block 2, in its order, each of which pays 1 wei. */
let hashes: `0x${string}`[];

async function ask<T>(method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await overHttp(remote.url, method, params);
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result as T;
}

before(async () => {
  remote = await startEvmintd(home, ["--dev", "--no-mining", "--timestamp", "1700000000"]);
  await ask("evm_mine");
  await ask("anvil_setNextBlockBaseFeePerGas", "0xb2d05e00");
  // The last one pays best: order by fees is not the order of arrival.
  for (const [from, tip] of [
    [ALICE, 1n],
    [BOB, 2n],
    [ALICE, 3n],
  ] as const) {
    const fees = { maxFeePerGas: "0x2540be400", maxPriorityFeePerGas: `0x${(tip * 10n ** 9n).toString(16)}` };
    await ask("eth_sendTransaction", { from, to: COUNTED, value: "0x1", gas: "0x5208", ...fees });
  }
  await ask("evm_mine");
  ({ transactions: hashes } = await ask<{ transactions: `0x${string}`[] }>("eth_getBlockByNumber", "0x2", false));
  assert.equal(hashes.length, 3);
  await ask("evm_mine");
});
after(async () => {
  remote.child.kill("SIGKILL");
  await remote.exited;
  rmSync(home, { recursive: true, force: true });
});

const fork = (settings: Record<string, string>): Promise<EvmintNode> =>
  createNode({ settings: { "dev.fork-url": remote.url, "consensus.block-time": "manual", ...settings } });

test("a fork of a transaction has the state after it, in a block of the same time, base fee and random number", async () => {
  for (const [index, hash] of hashes.entries()) {
    await using node = await fork({ "fork-transaction": hash });
    assert.equal(await node.rpc.eth_getBalance(COUNTED), `0x${index + 1}`);
    const block = (await node.rpc.eth_getBlockByNumber("0x2", false))!;
    assert.deepEqual(block.transactions, hashes.slice(0, index + 1));
    const theirs = await ask<Record<string, string>>("eth_getBlockByNumber", "0x2", false);
    const shared = ["timestamp", "baseFeePerGas", "mixHash", "miner"] as const;
    for (const name of shared) assert.equal(block[name], theirs[name], name);
  }
});

test("a fork of a transaction that is nowhere, or beside a block, stops the start", async () => {
  await assert.rejects(fork({ "fork-transaction": `0x${"11".repeat(32)}` }), { code: "FORK_REMOTE_FAILED" });
  await assert.rejects(fork({ "fork-transaction": hashes[0]!, "fork-block": "1" }), {
    code: "CONFIG_INVALID",
    details: { key: "fork-transaction" },
  });
});

test("a negative number of a block counts back from the newest, and the chain id can be given", async () => {
  await using node = await fork({ "fork-block": "-2", "fork-chain-id": "77" });
  assert.equal(await node.rpc.eth_blockNumber(), "0x1");
  assert.equal(await node.rpc.eth_chainId(), "0x4d");
  await assert.rejects(fork({ "fork-block": "-9" }), { code: "FORK_REMOTE_FAILED" });
});

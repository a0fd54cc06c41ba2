import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createWalletClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { readSigningState } from "../../src/consensus/cometbft/signing/signing-state.ts";
import { cometbftPath, setAsidePath } from "../../src/node/config/home.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { runEvmintd } from "../support/evmintd.ts";
import { patientHttp } from "../support/viem-clients.ts";
import { assertSameChain, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

/** The precompile that costs more by the rules of `other-rules-program.ts`. */
const IDENTITY = "0x0000000000000000000000000000000000000004";
const account = privateKeyToAccount(DEV_KEYS[0]);

type Result = { readonly head: number; readonly removed: number; readonly file?: string; readonly engine?: string };

async function rollBack({ home }: NetworkNode, ...args: string[]): Promise<Result> {
  const { code, stdout, stderr } = await runEvmintd(["rollback", ...args, "--home", home]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Result;
}

test("a validator that executed blocks by other rules is brought back by one rollback, and its CometBFT keeps its blocks", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.create({ validators: 4, funded: [DEV_ADDRESSES[0]] });
  t.after(() => network.stop());
  const { nodes } = network;
  const [first, , , other] = nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  for (const node of nodes.slice(0, 3)) node.start();
  other.startAs("other-rules-program.ts");
  other.allowErrors(/wrong Block\.Header\.AppHash/);
  for (const node of nodes) await eventually("block 20", async () => (await node.height()) >= 20);
  const running = await runEvmintd(["rollback", "--to", "5", "--home", other.home]);
  assert.match(running.stderr, /a node is running on this home/);

  const wallet = createWalletClient({ account, chain: first.client.chain, transport: patientHttp(first.url) });
  const hash = await wallet.sendTransaction({ to: IDENTITY, gas: 50_000n });
  const { blockNumber } = await first.client.waitForTransactionReceipt({ hash, timeout: 60_000 });
  await eventually("it stays down", async () => /failed repeatedly/.test((await other.problem()) ?? ""));
  assert.equal(await other.height(), Number(blockNumber));
  await other.stop();
  const signed = readSigningState(cometbftPath(other.home));

  const result = await rollBack(other, "--to", "5");
  t.diagnostic(JSON.stringify(result));
  assert.deepEqual([result.head, result.removed], [5, Number(blockNumber) - 5]);
  assert.deepEqual(await rollBack(other, "--to", "5"), { head: 5, removed: 0, engine: result.engine });
  assert.deepEqual(readdirSync(setAsidePath(other.home)), [result.file!.split("/").at(-1)]);
  assert.deepEqual(readSigningState(cometbftPath(other.home)), signed);

  // No peer is there yet: the blocks are its own.
  await Promise.all(nodes.slice(0, 3).map((node) => node.stop()));
  other.start();
  await eventually("it has executed its blocks again", async () => (await other.height()) >= Number(blockNumber));
  for (const node of nodes.slice(0, 3)) node.start();
  const target = Number(blockNumber) + 3;
  for (const node of nodes) await eventually("blocks go on", async () => (await node.height()) >= target);
  await eventually("it is ready", async () => (await other.problem()) === undefined);
  await assertSameChain(nodes);

  await t.test("from peers, CometBFT has all blocks again as well", async () => {
    await other.stop();
    const head = await first.height();
    const again = await rollBack(other, "--to", "10", "--from-peers");
    t.diagnostic(JSON.stringify(again));
    const folder = readdirSync(setAsidePath(other.home)).find((name) => name.startsWith("cometbft-"))!;
    const moved = readdirSync(join(setAsidePath(other.home), folder));
    assert.ok(moved.includes("blockstore.db") && !moved.some((name) => name.startsWith("priv_validator")));
    assert.ok(readSigningState(cometbftPath(other.home)).height >= signed.height);
    other.start();
    await eventually("it is at the head", async () => (await other.height()) >= head);
    await eventually("it is ready", async () => (await other.problem()) === undefined);
    assert.match(other.log(), /the engine fetches the blocks again/);
    await assertSameChain(nodes);
  });
});

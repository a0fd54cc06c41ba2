import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../src/node/config/load.ts";
import { nodeOperations } from "../../src/node/roles/operations.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-retention-"));
after(() => rmSync(home, { recursive: true, force: true }));

const BLOCKS = 400;
const RETAINED = { "chain.retain-blocks": "200", "state.history": "150", "state.proofs": "128" };
const OLDEST = { block: 202, state: 252, proof: 274 };

type Answer = { readonly result?: unknown; readonly error?: { code: number; message: string } };

async function call({ url }: TestNode, method: string, params: unknown[] = []): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return (await response.json()) as Answer;
}

const hex = (number: number) => `0x${number.toString(16)}`;

const work = { onProgress() {}, signal: new AbortController().signal };

function prune(settings: Record<string, string>, isDryRun: boolean) {
  const { config } = loadConfig({ home, dev: true, flags: settings, environment: {} });
  return nodeOperations.prune(config, STRICT_LOGGER, { ...work, isDryRun });
}

test("a pruned node answers what it has, and names what it has not as geth does", async () => {
  const archive = await startTestNode({ dev: true, home });
  const [account, to] = (await call(archive, "eth_accounts")).result as [string, string];
  const send = { from: account, to, value: "0x1" };
  const { result: hash } = await call(archive, "eth_sendTransaction", [send]);
  for (let i = 0; i < BLOCKS; i++) archive.produceBlock();
  const expected = await call(archive, "eth_getBalance", [account, hex(OLDEST.state)]);
  const proof = await call(archive, "eth_getProof", [account, [], hex(OLDEST.proof)]);
  await archive.stop();

  await assert.rejects(prune({}, false), { code: "NOTHING_TO_PRUNE" });
  const plan = await prune(RETAINED, true);
  const pruned = await prune(RETAINED, false);
  const { block: oldestBlock, state: oldestState, proof: oldestProof } = OLDEST;
  assert.deepEqual(pruned, { oldestBlock, oldestState, oldestProof, logBytes: 0 });
  assert.ok(plan.oldestBlock <= oldestBlock);

  const node = await startTestNode({ dev: true, home, settings: RETAINED });
  try {
    const oldest = await call(node, "eth_getBlockByNumber", ["earliest", false]);
    assert.equal((oldest.result as { number: string }).number, hex(OLDEST.block));
    const before = hex(OLDEST.block - 1);
    for (const [method, params] of [
      ["eth_getBlockByNumber", [before, false]],
      ["eth_getBlockReceipts", [before]],
      ["eth_getBalance", [account, before]],
      ["eth_getLogs", [{ fromBlock: before, toBlock: "latest" }]],
      ["eth_feeHistory", ["0x1", before, []]],
      ["debug_traceBlockByNumber", [before]],
    ] as const) {
      const { error } = await call(node, method, [...params]);
      assert.equal(error?.code, 4444, `${method} ${JSON.stringify(error)}`);
      assert.equal(error.message, "pruned history unavailable");
    }
    assert.equal((await call(node, "eth_getTransactionReceipt", [hash])).result, null);
    const root = async (number: number) =>
      (
        (await call(node, "eth_getBlockByNumber", [hex(number), false])).result as {
          stateRoot: string;
        }
      ).stateRoot.slice(2);
    for (const [method, number] of [
      ["eth_getBalance", OLDEST.state - 1],
      ["eth_getProof", OLDEST.proof - 1],
    ] as const) {
      const params = method === "eth_getProof" ? [account, [], hex(number)] : [account, hex(number)];
      const { error } = await call(node, method, params);
      assert.equal(error?.code, -32000);
      assert.equal(error.message, `historical state ${await root(number)} is not available`);
    }
    assert.deepEqual(await call(node, "eth_getBalance", [account, hex(OLDEST.state)]), expected);
    assert.deepEqual(await call(node, "eth_getProof", [account, [], hex(OLDEST.proof)]), proof);
    const all = await call(node, "eth_getLogs", [{ fromBlock: "earliest", toBlock: "latest" }]);
    assert.deepEqual(all.result, []);
    const fees = await call(node, "eth_feeHistory", ["0x400", "latest", []]);
    assert.equal((fees.result as { oldestBlock: string }).oldestBlock, hex(OLDEST.block));
    const { result } = await call(node, "eth_capabilities");
    const { blocks, state, stateproofs } = result as Record<string, { oldestBlock: string }>;
    assert.deepEqual(
      [blocks, state, stateproofs].map((each) => each!.oldestBlock),
      [hex(OLDEST.block), hex(OLDEST.state), hex(OLDEST.proof)],
    );
    const accessible = await call(node, "debug_getAccessibleState", ["earliest", "latest"]);
    assert.equal(Number(accessible.result), OLDEST.state);
    const { error } = await call(node, "anvil_rollback", [hex(150)]);
    assert.equal(error?.code, -32000);
  } finally {
    await node.stop();
  }
  const { config } = loadConfig({ home, dev: true, flags: RETAINED, environment: {} });
  assert.deepEqual((await nodeOperations.checkStore(config, STRICT_LOGGER, work)).faults, []);
  const compacted = await nodeOperations.compact(config, STRICT_LOGGER, work);
  assert.ok(compacted && compacted.bytesAfter < compacted.bytesBefore);
});

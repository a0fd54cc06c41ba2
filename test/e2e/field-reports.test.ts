/** What users of other nodes reported and no other test looks at; docs/field-reports.md lists all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createNode, type EvmintNode } from "../../src/index.ts";

const FRESH = "0x00000000000000000000000000000000000000aa";
/** Calls a contract that was handed a 64th less, three times, and stores something: its least gas is none that it uses. */
const NESTED =
  "0x5a6000556000600060006000600073000000000000000000000000000000000000beef61c350f1506001600155600060006000600060007300000000000000000000000000000000000000bb5af100";

const ask = ({ provider }: EvmintNode, method: string, ...params: unknown[]) => provider.request({ method, params });
const codeOf = (node: EvmintNode, method: string, ...params: unknown[]) =>
  ask(node, method, ...params).then(
    (result) => assert.fail(`${method}: ${JSON.stringify(result)}`),
    ({ code }: { code: number }) => code,
  );

test("safe and finalized are the newest block", async () => {
  await using node = await createNode({});
  await node.mine("0x3");
  const numbers = ["safe", "finalized", "latest"].map(
    async (tag) => (await node.rpc.eth_getBlockByNumber(tag as "latest", false))!.hash,
  );
  const [safe, finalized, latest] = await Promise.all(numbers);
  assert.deepEqual([safe, finalized], [latest, latest]);
});

test("eth_getLogs with toBlock alone answers for the newest block, and rejects an older one", async () => {
  await using node = await createNode({});
  await node.mine("0x2");
  assert.deepEqual(await ask(node, "eth_getLogs", { toBlock: "0x2" }), []);
  assert.equal(await codeOf(node, "eth_getLogs", { toBlock: "0x1" }), -32602);
});

test("eth_estimateGas is at least the least gas that suffices, and at most 1.5 % more", async () => {
  await using node = await createNode({});
  await node.setCode(FRESH, NESTED);
  const [from] = await node.rpc.eth_accounts();
  const suffices = (gas: number) =>
    ask(node, "eth_call", { from, to: FRESH, gas: `0x${gas.toString(16)}` }, "latest").then(
      () => true,
      () => false,
    );
  let [low, high] = [21_000, 1_000_000];
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (await suffices(middle)) high = middle;
    else low = middle;
  }
  const estimate = Number(await node.rpc.eth_estimateGas({ from: from!, to: FRESH }));
  assert.ok(estimate >= high && estimate <= high * 1.0151, `${estimate} for ${high}`);
});

test("eth_fillTransaction proposes twice the newest base fee and the tip, whatever the dialect", async () => {
  for (const settings of [{}, { dialect: "anvil" }]) {
    await using node = await createNode({ settings });
    const [from] = await node.rpc.eth_accounts();
    const filled = (await ask(node, "eth_fillTransaction", { from, to: FRESH })) as { tx: Record<string, string> };
    const { maxFeePerGas, maxPriorityFeePerGas } = filled.tx;
    const base = BigInt((await node.rpc.eth_getBlockByNumber("latest", false))!.baseFeePerGas!);
    assert.equal(BigInt(maxFeePerGas!), 2n * base + BigInt(maxPriorityFeePerGas!));
  }
});

test("a creation where only storage is fails (EIP-7610)", async () => {
  await using node = await createNode({});
  const [from] = await node.rpc.eth_accounts();
  const deploy = async () => {
    const hash = await node.rpc.eth_sendTransaction({ from: from!, data: "0x6001600055", gas: "0x186a0" });
    return (await node.rpc.eth_getTransactionReceipt(hash))!;
  };
  const snapshot = await node.snapshot();
  const { contractAddress, status } = await deploy();
  assert.equal(Number(status), 1);
  await node.revert(snapshot);
  await node.setStorageAt(contractAddress!, `0x${"00".repeat(31)}07`, `0x${"00".repeat(31)}01`);
  assert.equal(Number((await deploy()).status), 0);
});

test("integers of 33 bytes in a raw transaction do not decode", async () => {
  await using node = await createNode({});
  // A legacy transaction: nonce, price, gas, to, a value of 33 bytes, no data, v, r, s.
  const fields = ["80", "01", "825208", `94${"aa".repeat(20)}`, `a1${"11".repeat(33)}`, "80", "1b", "01", "01"].join(
    "",
  );
  const raw = `0xf8${(fields.length / 2).toString(16)}${fields}`;
  assert.equal(await codeOf(node, "eth_sendRawTransaction", raw), -32000);
});

test("the solo engine has no peers to add, and its discovery has no table", async () => {
  await using node = await createNode({});
  assert.equal(await codeOf(node, "admin_addPeer", `enode://${"11".repeat(64)}@127.0.0.1:30303`), -32000);
  assert.equal(await ask(node, "debug_discoveryV4Table"), null);
});

test("a dev chain takes transactions of a delegated account behind a nonce gap", async () => {
  await using node = await createNode({});
  const [from] = await node.rpc.eth_accounts();
  await node.setCode(from!, `0xef0100${FRESH.slice(2)}`);
  const hash = await node.rpc.eth_sendTransaction({ from: from!, to: FRESH, gas: "0x7530", nonce: "0x64" });
  assert.match(hash, /^0x[0-9a-f]{64}$/);
  const { queued } = (await ask(node, "txpool_status")) as { queued: string };
  assert.equal(Number(queued), 1);
});

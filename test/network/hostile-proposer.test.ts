import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { AbciProxy, type EditProposal } from "./abci-proxy.ts";
import { assertSameChain, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

const NOTHING = new Uint8Array();

const EDITS: Readonly<Record<string, EditProposal>> = {
  "no proposer data": (txs) => txs.slice(1),
  "proposer data that does not decode": ([first = NOTHING, ...rest]) => [first.subarray(0, first.length - 1), ...rest],
  "another gas limit": ([first = NOTHING, ...rest]) => [otherGasLimit(first), ...rest],
  "a transaction that does not decode": (txs) => [...txs, Uint8Array.of(2, 0xc0)],
  "proposer data last": ([first = NOTHING, ...rest]) => (rest.length === 0 ? [] : [...rest, first]),
  "a transaction twice": (txs) => [...txs, txs.at(-1) ?? NOTHING],
  "more bytes than a block may have": (txs) => [...txs, new Uint8Array(9 << 20)],
};

/** Proposer data ends with the four bytes of the gas limit and an empty vote: the second byte changes it by more than 1/1024. */
function otherGasLimit(data: Uint8Array): Uint8Array {
  const copy = data.slice();
  copy[copy.length - 4]! ^= 0x7f;
  return copy;
}

test("what a dishonest proposer makes of its blocks the others reject, and the chain goes on", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.create({ validators: 4, funded: [DEV_ADDRESSES[0]] });
  const { nodes } = network;
  const [first, , , hostile] = nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  const proxy = await AbciProxy.open(hostile);
  t.after(async () => {
    try {
      await network.stop();
    } finally {
      // An open socket would keep the process of the tests alive.
      proxy.close();
    }
  });
  for (const node of nodes) node.start();
  hostile.allowErrors(/transaction data size exceeds maximum/);
  const height = async (node: NetworkNode) => Number(await node.client.getBlockNumber({ cacheTime: 0 }));
  const reaches = (node: NetworkNode, number: number) =>
    eventually(`block ${number}`, async () => (await height(node)) >= number);
  for (const node of nodes) await reaches(node, 2);
  const { validator } = (await hostile.request("admin_nodeInfo").then(consensusOf)) as {
    validator: string;
  };
  const isOfHostile = async (number: number) =>
    (await first.client.getBlock({ blockNumber: BigInt(number) })).miner === validator;

  for (const [what, edit] of Object.entries(EDITS)) {
    const before = await height(first);
    proxy.edited = 0;
    proxy.edit = edit;
    await eventually(`proposals with ${what}`, async () => {
      await network.send(first);
      return proxy.edited >= 2;
    });
    proxy.edit = undefined;
    const after = await height(first);
    for (let number = before + 2; number < after; number++) {
      assert.equal(await isOfHostile(number), false, `${what}: block ${number}`);
    }
    const milliseconds = await reaches(first, after + 2);
    t.diagnostic(
      `${what}: ${proxy.edited} proposals, ${after - before} blocks meanwhile, two more in ${Math.round(milliseconds)} ms`,
    );
  }
  assert.deepEqual([...proxy.different], [], "requests that our codec writes otherwise");
  const record = process.env["EVMINT_RECORD_ABCI"];
  if (record) writeFileSync(record, `${JSON.stringify(proxy.requests, null, 2)}\n`);
  const last = await height(first);
  for (const node of nodes) await reaches(node, last);
  await assertSameChain(nodes);
});

function consensusOf(info: unknown): unknown {
  return (info as { readonly protocols: { readonly bft: unknown } }).protocols.bft;
}

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { genesisPath } from "../../src/node/config/home.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { assertSameChain, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

/** For three votes and the notice of 30 s, with blocks of half a second. */
const FORK_IN_SECONDS = 60;

type Parameters = {
  readonly agreed: Readonly<Record<string, number>>;
  readonly unknownFork: { readonly name: string; readonly time: number } | null;
};
type Genesis = { readonly config: Readonly<Record<string, unknown>> };

/** Homes of a network that begins with Prague. */
async function pragueNetwork(validators: number): Promise<Network> {
  const latest = await Network.create({ validators: 1, funded: [DEV_ADDRESSES[0]] });
  const genesis = genesisPath(latest.nodes[0]!.home);
  const { config, ...rest } = JSON.parse(readFileSync(genesis, "utf8")) as Genesis;
  writeFileSync(genesis, JSON.stringify({ ...rest, config: { ...config, osakaTime: undefined } }));
  const network = await Network.create({ validators, genesis });
  await latest.stop();
  return network;
}

const parametersOf = async (node: NetworkNode) => (await node.request("clique_parameters")) as Parameters;
const newestOf = ({ client }: NetworkNode) => client.getBlock({ blockTag: "latest" });

test("five validators agree on a fork and on rules; the one whose program does not know the fork stops before it with the reason", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await pragueNetwork(5);
  t.after(() => network.stop());
  const { nodes } = network;
  const [first] = nodes as [NetworkNode];
  const older = nodes.at(-1)!;
  const upgraded = nodes.slice(0, -1);
  for (const node of upgraded) node.start();
  older.startAs("older-program.ts");
  older.allowErrors(/does not know a fork that was agreed on/, /block \d+ is after osakaTime/);
  for (const node of nodes) await eventually("block 2", async () => (await node.height()) >= 2);

  await assert.rejects(older.request("clique_proposeFork", "osaka", 4_102_444_800), /does not know the fork/);
  const forkTime = Math.floor(Date.now() / 1000) + FORK_IN_SECONDS;
  for (const node of upgraded.slice(0, 3)) {
    await node.request("clique_proposeFork", "osaka", forkTime);
    await node.request("clique_proposeParameter", "gasLimit", 45_000_000);
    await node.request("clique_proposeParameter", "evidenceAgeSeconds", 7_200);
  }
  for (const node of nodes) {
    await eventually("it has agreed", async () => (await parametersOf(node)).agreed["osakaTime"] === forkTime);
  }
  assert.ok(Date.now() / 1000 < forkTime, "the votes were cast in time");
  assert.deepEqual((await parametersOf(older)).unknownFork, { name: "osakaTime", time: forkTime });
  assert.equal((await parametersOf(first)).unknownFork, null);
  await eventually("the gas limit moves", async () => (await newestOf(first)).gasLimit < 60_000_000n);
  await eventually("evidence counts for another time", async () => {
    return (await parametersOf(first)).agreed["evidenceAgeSeconds"] === 7_200;
  });

  await eventually("the older program stays down", async () => /osakaTime/.test((await older.problem()) ?? ""));
  const problem = await older.problem();
  t.diagnostic(`the older program says: ${problem}`);
  assert.match(problem ?? "", /install a version of evmintd that knows osakaTime/);
  assert.match(older.log(), /osakaTime/);
  assert.ok((await newestOf(older)).timestamp < BigInt(forkTime), "it serves no block of the fork");
  const before = await first.height();
  await eventually("the others go on", async () => (await first.height()) >= before + 5);
  for (const node of upgraded) {
    assert.ok((await newestOf(node)).timestamp >= BigInt(forkTime));
    assert.equal(await node.problem(), undefined);
  }

  await older.stop();
  older.start();
  const target = await first.height();
  await eventually("it is at the head with the right program", async () => (await older.height()) >= target);
  await assertSameChain(nodes);
  const { gasLimit } = await newestOf(older);
  assert.equal(gasLimit, (await first.client.getBlock({ blockNumber: (await newestOf(older)).number })).gasLimit);
});

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { genesisPath } from "../../src/node/config/home.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { runEvmintd } from "../support/evmintd.ts";
import { assertSameChain, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

/** Time in which the nodes are restarted one after the other. */
const NOTICE_SECONDS = 60;
/** Why the node that missed the fork stays down. */
const OTHER_SCHEDULE = /has another fork schedule|wrong Block.Header/;

type Genesis = { readonly config: Readonly<Record<string, unknown>> };

/** The genesis of a home with other fork times; undefined removes one. */
function editForks(home: string, times: Readonly<Record<string, number | undefined>>): void {
  const file = genesisPath(home);
  const genesis = JSON.parse(readFileSync(file, "utf8")) as Genesis;
  writeFileSync(file, JSON.stringify({ ...genesis, config: { ...genesis.config, ...times } }, null, 2));
}

/** A genesis whose chain begins with Cancun. */
async function cancunGenesis(): Promise<Network> {
  const latest = await Network.create({ validators: 1, funded: [DEV_ADDRESSES[0]] });
  const [{ home }] = latest.nodes as [NetworkNode];
  editForks(home, { pragueTime: undefined, osakaTime: undefined });
  return latest;
}

test("a fork is scheduled node by node; one that missed it stays down with the reason, and goes on with the right time", {
  skip: whyLeftOut(),
}, async (t) => {
  const source = await cancunGenesis();
  const genesis = genesisPath(source.nodes[0]!.home);
  const network = await Network.create({ validators: 4, genesis });
  t.after(async () => {
    await source.stop();
    await network.stop();
  });
  const { nodes } = network;
  const [first, , , late] = nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  for (const node of nodes) node.start();
  late.allowErrors(OTHER_SCHEDULE);
  for (const node of nodes) await eventually("block 2", async () => (await node.height()) >= 2);

  const forkTime = Math.floor(Date.now() / 1000) + NOTICE_SECONDS;
  for (const node of nodes.slice(0, 3)) {
    editForks(node.home, { pragueTime: forkTime });
    await node.stop();
    node.start();
    await eventually("it is ready again", async () => (await node.problem()) === undefined);
  }
  assert.ok(Date.now() / 1000 < forkTime, "the nodes were restarted in time");
  const newestOf = ({ client }: NetworkNode) => client.getBlock({ blockTag: "latest" });
  await eventually("the fork", async () => (await newestOf(first)).timestamp >= forkTime);
  const forkHeight = await heightOfFork(first, forkTime);

  await eventually("the late node stays down", async () => {
    return OTHER_SCHEDULE.test((await late.problem()) ?? "");
  });
  const missed = await late.height();
  t.diagnostic(`fork at block ${forkHeight}; the node that missed it stays at ${missed}`);
  // One block more where it proposed the first of the fork: that one says nothing of forks.
  assert.ok(missed === forkHeight - 1 || missed === forkHeight);
  const before = await first.height();
  await eventually("the others go on", async () => (await first.height()) >= before + 3);

  await late.stop();
  // The file may be right before the rollback.
  editForks(late.home, { pragueTime: forkTime });
  if (missed === forkHeight) {
    const { code, stderr } = await runEvmintd(["rollback", "--to", String(forkHeight - 1), "--home", late.home]);
    assert.equal(code, 0, stderr);
  }
  late.start();
  const target = await first.height();
  await eventually("it is at the head again", async () => (await late.height()) >= target);
  await assertSameChain(nodes);
  assert.ok((await newestOf(late)).timestamp >= forkTime);
});

async function heightOfFork({ client, height }: NetworkNode, forkTime: number): Promise<number> {
  let number = await height();
  while ((await client.getBlock({ blockNumber: BigInt(number - 1) })).timestamp >= forkTime) {
    number--;
  }
  return number;
}

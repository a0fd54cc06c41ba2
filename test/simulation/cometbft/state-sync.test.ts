import assert from "node:assert/strict";
import { test } from "node:test";
import { ModelNetwork, type ModelNode } from "./testing/model-network.ts";

const TRUST_HEIGHT = 3;

/** A network of four and a fifth node that begins with a snapshot. */
async function networkWithNewcomer(): Promise<{
  network: ModelNetwork;
  newcomer: ModelNode;
  old: readonly ModelNode[];
}> {
  const network = new ModelNetwork({ validators: 4, followers: 1, blockTimeMs: 500 });
  const newcomer = network.nodes.at(-1)!;
  const old = network.nodes.slice(0, -1);
  for (const node of old) node.start();
  await network.reach(14, 30_000, old);
  const { signed_header } = (await old[0]!.rpc("commit", { height: TRUST_HEIGHT })) as {
    readonly signed_header: { readonly commit: { readonly block_id: { readonly hash: string } } };
  };
  newcomer.configure({
    address: "10.0.0.5:26656",
    peers: old.map(({ id }, index) => `${id}@10.0.0.${index + 1}:26656`),
    blockTimeMs: 500,
    stateSync: {
      rpcServers: [old[0]!.id, old[1]!.id],
      trustHeight: TRUST_HEIGHT,
      trustHash: signed_header.commit.block_id.hash,
    },
  });
  return { network, newcomer, old };
}

test("a new node begins with a snapshot, and has no block of before", async () => {
  const { network, newcomer } = await networkWithNewcomer();
  newcomer.start();
  await network.reach(50, 60_000);
  const [offer, ...rest] = newcomer.application.calls;
  const height = Number(offer!.split(" ")[1]);
  assert.deepEqual(rest.slice(0, 5), [
    "applySnapshotChunk 0",
    "applySnapshotChunk 1",
    "applySnapshotChunk 2",
    "applySnapshotChunk 3",
    `finalizeBlock ${height + 1}`,
  ]);
  const status = (await newcomer.rpc("status")) as { readonly sync_info: Readonly<Record<string, string>> };
  assert.equal(status.sync_info["earliest_block_height"], String(height + 1));
  assert.ok((await newcomer.rpc("validators", { height })) !== undefined);
  newcomer.kill();
  newcomer.start();
  await network.reach(55, 60_000);
  network.close();
});

test("a peer that invents snapshots and damages chunks does not stop state sync", async () => {
  const { network, newcomer, old } = await networkWithNewcomer();
  old[2]!.hostile = new Set(["snapshots"]);
  newcomer.start();
  await network.reach(60, 90_000);
  const offered = newcomer.application.calls.filter((call) => call.startsWith("offerSnapshot"));
  assert.ok(offered.length > 0);
  network.close();
});

test("a trusted hash that is not that of the chain ends the process with status 1", async () => {
  const { network, newcomer, old } = await networkWithNewcomer();
  newcomer.configure({
    address: "10.0.0.5:26656",
    peers: [],
    blockTimeMs: 500,
    stateSync: { rpcServers: [old[0]!.id, old[1]!.id], trustHeight: TRUST_HEIGHT, trustHash: "ab".repeat(32) },
  });
  newcomer.start();
  await network.time.run(2_000);
  assert.equal(newcomer.exitCode, 1);
  assert.match(newcomer.stderr.join("\n"), /^ERROR: failed to start node: failed to start state sync: /);
  network.close();
});

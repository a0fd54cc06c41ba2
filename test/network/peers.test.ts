import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

type Peer = {
  readonly id: string;
  readonly enode: string;
  readonly network: { readonly trusted: boolean; readonly static: boolean };
};

test("peers are removed, added again and trusted, also over a restart", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.start(1, 1);
  t.after(() => network.stop());
  const [validator, follower] = network.nodes as [NetworkNode, NetworkNode];
  const peers = async () => (await follower.request("admin_peers")) as readonly Peer[];
  const height = async (node: NetworkNode) => Number(await node.client.getBlockNumber({ cacheTime: 0 }));
  const hasPeers = (count: number) => eventually(`${count} peers`, async () => (await peers()).length === count);
  const catchesUp = () => eventually("it follows", async () => (await height(follower)) >= (await height(validator)));

  await hasPeers(1);
  await catchesUp();
  const [{ id, enode }] = (await peers()) as [Peer];
  assert.deepEqual((await peers())[0]!.network.static, true);

  assert.equal(await follower.request("admin_removePeer", enode), true);
  await hasPeers(0);
  const alone = await height(follower);
  await eventually("three blocks without it", async () => (await height(validator)) > alone + 3);
  assert.ok((await height(follower)) <= alone + 1);
  await follower.stop();
  follower.start();
  await eventually("CometBFT runs again", async () => {
    const { protocols } = (await follower.request("admin_nodeInfo")) as {
      protocols: { bft: { height: number | null } };
    };
    return protocols.bft.height !== null;
  });
  assert.deepEqual(await peers(), []);

  assert.equal(await follower.request("admin_addPeer", enode), true);
  await hasPeers(1);
  await catchesUp();

  const isTrusted = async () => (await peers()).find((peer) => peer.id === id)?.network.trusted;
  assert.equal(await isTrusted(), false);
  assert.equal(await follower.request("admin_addTrustedPeer", enode), true);
  assert.equal(await isTrusted(), true);
  await follower.stop();
  follower.start();
  await eventually("it is trusted after a restart", async () => (await isTrusted()) === true);
  assert.equal(await follower.request("admin_removeTrustedPeer", enode), true);
  assert.equal(await isTrusted(), false);
});

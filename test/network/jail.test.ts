import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cometbftPath } from "../../src/node/config/home.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { assertSameChain, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

type Status = { readonly jailed: Readonly<Record<string, number>> };

const statusOf = async (node: NetworkNode) => (await node.request("clique_status")) as Status;
const signersOf = async (node: NetworkNode) => (await node.request("clique_getSigners")) as readonly string[];

/** What each node logs of the proof. */
const SIGNED_TWICE = /a validator double-signed/;

test("a validator whose key is in use twice is removed by the block with the proof, and voted in again", {
  skip: whyLeftOut(),
}, async (t) => {
  const flags = ["--cometbft.double-sign-check-height", "0"];
  const network = await Network.create({ validators: 4, funded: [DEV_ADDRESSES[0]], flags, jail: true });
  t.after(() => network.stop());
  const { nodes } = network;
  const twice = nodes.at(-1)!;
  const keyFile = join("config", "priv_validator_key.json");
  const { address, publicKey } = validatorOf(twice, keyFile);
  for (const node of nodes) {
    node.start();
    node.allowErrors(SIGNED_TWICE);
  }
  for (const node of nodes) await eventually("block 2", async () => (await node.height()) >= 2);
  assert.equal((await signersOf(twice)).length, 4);

  const copy = await network.join(flags);
  copyFileSync(join(cometbftPath(twice.home), keyFile), join(cometbftPath(copy.home), keyFile));
  copy.start();
  copy.allowErrors(SIGNED_TWICE);
  const others = nodes.slice(0, -1);
  for (const node of others) {
    await eventually("it is removed", async () => (await statusOf(node)).jailed[address] !== undefined);
    assert.equal((await signersOf(node)).includes(address), false);
  }
  const { jailed } = await statusOf(others[0]!);
  t.diagnostic(`${address} was removed by block ${jailed[address]}`);
  await copy.stop();
  const before = await others[0]!.height();
  await eventually("three go on", async () => (await others[0]!.height()) >= before + 5);

  for (const node of others) await node.request("clique_propose", address, true, publicKey);
  await eventually("it is back", async () => (await signersOf(twice)).includes(address));
  const back = await others[0]!.height();
  await eventually("it signs", async () => (await others[0]!.committers((await others[0]!.height()) - 1)).has(address));
  await eventually("it stays", async () => (await others[0]!.height()) >= back + 10);
  assert.ok((await signersOf(twice)).includes(address));
  await assertSameChain(nodes);
});

function validatorOf({ home }: NetworkNode, keyFile: string) {
  const { address, pub_key } = JSON.parse(readFileSync(join(cometbftPath(home), keyFile), "utf8")) as {
    readonly address: string;
    readonly pub_key: { readonly value: string };
  };
  return {
    address: `0x${address.toLowerCase()}`,
    publicKey: `0x${Buffer.from(pub_key.value, "base64").toString("hex")}`,
  };
}

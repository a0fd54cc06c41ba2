import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { encodeFunctionData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { ALLOWED_ACCOUNTS_ADDRESS } from "../../src/node/config/genesis/allowed-accounts.ts";
import { genesisPath } from "../../src/node/config/home.ts";
import { DEV_KEYS } from "../support/accounts.ts";
import { AbciProxy } from "./abci-proxy.ts";
import { assertSameChain, CHAIN_ID, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

const { abi } = JSON.parse(readFileSync(new URL("../../contracts/AllowedAccounts.json", import.meta.url), "utf8"));
const [owner, stranger] = DEV_KEYS.slice(0, 2).map((key) => privateKeyToAccount(key)) as [Account, Account];
type Account = ReturnType<typeof privateKeyToAccount>;

const signed = (from: Account, nonce: number, to: Account["address"], data: `0x${string}` = "0x") =>
  from.signTransaction({ chainId: CHAIN_ID, type: "legacy", nonce, gas: 200_000n, gasPrice: 0n, to, data });

async function reaches(node: NetworkNode, number: number): Promise<void> {
  await eventually(`block ${number}`, async () => (await node.height()) >= number);
}

test("only accounts that the contract of the genesis names have transactions in blocks, whatever one proposer does", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.create({ validators: 4, freeGas: true, permissionsOwner: owner.address });
  const { nodes } = network;
  const [first, second, , hostile] = nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
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
  for (const node of nodes) await reaches(node, 2);

  const forbidden = await signed(stranger, 0, owner.address);
  for (const { client } of nodes) {
    await assert.rejects(client.sendRawTransaction({ serializedTransaction: forbidden }), /may not send transactions/);
  }
  proxy.edit = (txs) => [...txs, hexToBytes(forbidden)];
  await eventually("proposals with it", async () => proxy.edited >= 2);
  proxy.edit = undefined;
  await reaches(first, (await first.height()) + 2);
  assert.equal(await first.client.getTransactionCount({ address: stranger.address }), 0);

  const data = encodeFunctionData({ abi, functionName: "set", args: [stranger.address, 1n, "shop"] });
  const change = await signed(owner, 0, ALLOWED_ACCOUNTS_ADDRESS, data);
  const hash = await second.client.sendRawTransaction({ serializedTransaction: change });
  assert.equal((await second.client.waitForTransactionReceipt({ hash })).status, "success");
  const sent = await second.client.sendRawTransaction({ serializedTransaction: forbidden });
  assert.equal((await second.client.waitForTransactionReceipt({ hash: sent })).status, "success");

  // A node that joins executes and checks all of it; one without the rule in its genesis does not start.
  const joined = await network.join([]);
  joined.start();
  await reaches(joined, await first.height());
  await assertSameChain([...nodes, joined]);
  await joined.stop();
  const path = genesisPath(join(joined.home));
  const { evmint: _, ...config } = JSON.parse(readFileSync(path, "utf8")).config;
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), config }));
  joined.start();
  await joined.ended();
  assert.match(joined.log(), /FORK_SCHEDULE_CHANGED|accountPermissions/);
});

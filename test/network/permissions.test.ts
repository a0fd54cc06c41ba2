import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Address, createWalletClient, encodeDeployData, encodeFunctionData, getContractAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { nodeIdOf } from "../../src/consensus/cometbft/home/home.ts";
import { cometbftPath } from "../../src/node/config/home.ts";
import { DEV_KEYS } from "../support/accounts.ts";
import { patientHttp } from "../support/viem-clients.ts";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

const { abi, bytecode } = JSON.parse(
  readFileSync(new URL("../../contracts/AllowedNodes.json", import.meta.url), "utf8"),
);
const owner = privateKeyToAccount(DEV_KEYS[0]);

const idOf = ({ home }: NetworkNode) => nodeIdOf(cometbftPath(home));

async function isConnected(from: NetworkNode, to: NetworkNode): Promise<boolean> {
  const peers = (await from.request("admin_peers")) as readonly { readonly id: string }[];
  return peers.some(({ id }) => id === idOf(to));
}

/** Sends a transaction of the owner through `node`, and waits for its block. */
async function transact(node: NetworkNode, to: Address | undefined, data: `0x${string}`): Promise<void> {
  const { chain } = node.client;
  const wallet = createWalletClient({ account: owner, chain, transport: patientHttp(node.url) });
  const hash = await wallet.sendTransaction({ ...(to && { to }), data, gas: 2_000_000n });
  const { status } = await node.client.waitForTransactionReceipt({ hash });
  assert.equal(status, "success");
}

test("nodes that a contract does not allow are disconnected, and come back when it does", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.start(1, 2);
  t.after(() => network.stop());
  const [validator, friend, stranger] = network.nodes as [NetworkNode, NetworkNode, NetworkNode];
  await eventually("all are connected", async () => {
    return (await isConnected(validator, friend)) && (await isConnected(stranger, validator));
  });
  const contract = getContractAddress({ from: owner.address, nonce: 0n });
  const ids = network.nodes.map((node) => `0x${idOf(node)}`);
  await transact(validator, undefined, encodeDeployData({ abi, bytecode, args: [owner.address, ids] }));
  const change = (functionName: "allow" | "remove") =>
    transact(
      validator,
      contract,
      encodeFunctionData({
        abi,
        functionName,
        args: [`0x${idOf(stranger)}`, "stranger"].slice(0, functionName === "allow" ? 2 : 1),
      }),
    );
  await eventually("all have it", async () => {
    const codes = await Promise.all(network.nodes.map(({ client }) => client.getCode({ address: contract })));
    return codes.every((code) => code !== undefined);
  });
  for (const node of network.nodes) {
    await node.stop();
    node.flags.push("--cometbft.allowed-nodes-contract", contract);
    node.start();
  }
  await eventually("all are connected again", async () => {
    return (await isConnected(validator, friend)) && (await isConnected(friend, stranger));
  });

  await change("remove");
  await eventually("the stranger is alone", async () => {
    return !(await isConnected(validator, stranger)) && !(await isConnected(friend, stranger));
  });
  const alone = await stranger.height();
  await eventually("the others go on", async () => (await friend.height()) > alone + 10);
  assert.ok((await stranger.height()) <= alone + 1);
  assert.match(validator.log(), /node refused.*refused by cometbft\.allowed-nodes-contract/);

  await change("allow");
  await eventually("the stranger follows", async () => (await stranger.height()) >= (await validator.height()));
});

/** Runs the session of the methods that need CometBFT over a network of two validators and a follower. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, Network, type NetworkNode } from "../../test/network/network.ts";
import { overIpc } from "../../test/support/clients.ts";
import { type Examples, Recorder } from "./recorder.ts";
import { askNetwork } from "./session-node.ts";

/** Shown in place of what is new in each network. */
const SHOWN = {
  address: "0x2e988a386a799f506693793c6a5af6b54dfaabfb",
  publicKey: "0x0284bf7562262bbd6940085748f3be6afa52ae317155181ece31b66351ccffa4b0",
  id: "e1f2a3b4c5d6e7f8091a2b3c4d5e6f7081920a1b",
  host: "10.0.0.7:26656",
};

export async function recordNetworkExamples(): Promise<Examples> {
  const network = await Network.start(2, 1);
  try {
    const [validator, , follower] = network.nodes as [NetworkNode, NetworkNode, NetworkNode];
    const r = new Recorder();
    r.on = "CometBFT";
    r.send = (method, params) => overIpc(join(validator.home, "evmint.ipc"), method, params);
    await eventually("block 2", async () => Number(await validator.client.getBlockNumber()) >= 2);
    await eventually("peers", async () => (await r.call("admin_peers")).length === 2);
    const key = validatorKey(follower.home);
    r.standIn(key.address, SHOWN.address);
    r.standIn(key.publicKey, SHOWN.publicKey);
    const [, id = "", host = ""] = /^enode:\/\/(\w{40})\w*@(.*)$/.exec(await enodeOf(follower)) ?? [];
    r.standIn(id, SHOWN.id);
    r.standIn(host, SHOWN.host);
    await askNetwork(r, { peer: `${id}@${host}`, key });
    return r.examples();
  } finally {
    await network.stop();
  }
}

async function enodeOf(follower: NetworkNode): Promise<string> {
  return ((await follower.request("admin_nodeInfo")) as { readonly enode: string }).enode;
}

function validatorKey(home: string) {
  const file = join(home, "cometbft/config/priv_validator_key.json");
  const { address, pub_key } = JSON.parse(readFileSync(file, "utf8"));
  return {
    address: `0x${address.toLowerCase()}`,
    publicKey: `0x${Buffer.from(pub_key.value, "base64").toString("hex")}`,
  };
}

/**
 * Records what CometBFT v0.40.0 asks its application, for `test/simulation/traces`: `node --import tsx test/network/record-abci.ts [NAME …]`, with
 * `cometbft` on the PATH.
 */
import { setTimeout } from "node:timers/promises";
import { addressOfCompressedKey, compressPublicKey } from "../../src/base/crypto/compressed-public-key.ts";
import { secp256k1 } from "../../src/base/crypto/secp256k1.ts";
import { bigintToFixedBytes } from "../../src/base/primitives/bytes.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { TRACES, type TraceName, writeTrace } from "../simulation/traces/trace.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { AbciRecorder } from "./abci-recorder.ts";
import { eventually, Network, type NetworkNode } from "./network.ts";

type Recorded = { readonly network: Network; readonly recorder: AbciRecorder };

async function createRecorded(flags: readonly string[], recordedNodes: number): Promise<Recorded> {
  const network = await Network.create({ validators: 4, flags, funded: [DEV_ADDRESSES[0]] });
  const recorder = new AbciRecorder();
  for (const [index, node] of network.nodes.slice(0, recordedNodes).entries()) await recorder.add(node, index);
  for (const node of network.nodes) node.start();
  for (const node of network.nodes) await reaches(node, 2);
  return { network, recorder };
}

function reaches(node: NetworkNode, number: number): Promise<number> {
  return eventually(`block ${number}`, async () => (await node.height()) >= number);
}

const candidateKey = compressPublicKey(secp256k1.publicKeyFromPrivate(bigintToFixedBytes(77n, 32)));
const candidate = addressOfCompressedKey(candidateKey)!;

/** Transactions, and a validator that never runs and is voted in and out again. */
async function recordTraffic({ network }: Recorded): Promise<void> {
  const { nodes } = network;
  const [first] = nodes as [NetworkNode];
  for (let round = 0; round < 2; round++) for (const node of nodes) await network.send(node);
  const signers = async () => ((await first.request("clique_getSigners", "latest")) as string[]).length;
  for (const node of nodes.slice(0, 3)) {
    await node.request("clique_propose", candidate, true, bytesToHex(candidateKey));
  }
  await eventually("five validators", async () => (await signers()) === 5);
  await reaches(first, (await first.height()) + 7);
  for (const node of nodes.slice(0, 3)) await node.request("clique_propose", candidate, false);
  await eventually("four validators", async () => (await signers()) === 4);
  await reaches(first, (await first.height()) + 5);
}

async function recordKills({ network }: Recorded): Promise<void> {
  const [first, second, third, fourth] = network.nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  const recovers = async (node: NetworkNode) => {
    await network.send(first);
    await reaches(node, (await first.height()) + 2);
  };
  await second.kill();
  second.start();
  await recovers(second);
  third.killEngine();
  await recovers(third);
  await fourth.killBoth();
  await setTimeout(2_000);
  fourth.start();
  await recovers(fourth);
  for (const node of [second, third]) {
    node.killEngine();
    await recovers(node);
  }
}

async function recordStateSync({ network, recorder }: Recorded): Promise<void> {
  const [first] = network.nodes as [NetworkNode];
  for (let round = 0; round < 2; round++) await network.send(first);
  await eventually("a snapshot and three blocks", async () => (await first.height()) >= 43);
  const trusted = await first.trusted(3);
  const servers = network.nodes.slice(0, 2).map(({ engineRpc }) => engineRpc);
  const joined = await network.join([
    "--cometbft.state-sync-servers",
    servers.join(),
    "--cometbft.trust-block",
    `${trusted.height}:${trusted.hash}`,
  ]);
  await recorder.add(joined, 4);
  joined.start();
  await eventually("the new node follows", async () => (await joined.height()) >= (await first.height()) - 1);
  await reaches(joined, (await first.height()) + 4);
}

const SCENARIOS: Readonly<
  Record<
    TraceName,
    { readonly flags: readonly string[]; readonly nodes: number; run(recorded: Recorded): Promise<void> }
  >
> = {
  traffic: { flags: [], nodes: 4, run: recordTraffic },
  kills: { flags: [], nodes: 4, run: recordKills },
  "state-sync": { flags: ["--snapshot.interval", "40"], nodes: 4, run: recordStateSync },
};

const names = process.argv.slice(2);
for (const name of TRACES.filter((each) => names.length === 0 || names.includes(each))) {
  const { flags, nodes, run } = SCENARIOS[name];
  const recorded = await createRecorded(flags, nodes);
  try {
    await run(recorded);
    writeTrace(name, recorded.recorder.lines);
    console.log(`${name}: ${recorded.recorder.lines.length} lines`);
  } finally {
    await recorded.network.stop();
    recorded.recorder.close();
  }
}

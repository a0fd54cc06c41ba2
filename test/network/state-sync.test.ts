import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { engineChainId } from "../../src/consensus/chain-start.ts";
import { isEngineStoreEmpty, readStartingSet } from "../../src/consensus/cometbft/home/home.ts";
import { parseRpcAddress } from "../../src/consensus/cometbft/rpc/client.ts";
import { readSigningState } from "../../src/consensus/cometbft/signing/signing-state.ts";
import { StateSyncServers } from "../../src/consensus/cometbft/state-sync.ts";
import { encodeConsensusData } from "../../src/consensus/consensus-data.ts";
import { cometbftPath, dataPath } from "../../src/node/config/home.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { openChain } from "../../src/node/roles/chain/open-chain.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { eventually, Network, whyLeftOut } from "./network.ts";

/** Of the new node, in its home. */
const INDEX_PATH = "other-disk";

function assertIndexElsewhere(home: string): void {
  const folder = join(home, INDEX_PATH);
  assert.equal(realpathSync(join(dataPath(home), "index")), realpathSync(folder));
  assert.ok(statSync(join(folder, "data.mdb")).size > 0);
}

/** Runs the lines that docs/operations/network.md has for it. */
function beginAgain(home: string): void {
  const [, section] = readFileSync("docs/operations/network.md", "utf8").split("### Beginning again from a snapshot\n");
  const lines = section!.split("\n### ", 1)[0]!.match(/^ {4}\S.*$/gm)!;
  assert.equal(lines.length, 3);
  const { status, stderr } = spawnSync("sh", ["-ec", lines.join("\n").replaceAll("HOME", home)], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

test("a new node with index.path restores a snapshot of the network, follows it, and survives a restart", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.start(4, 0, ["--snapshot.interval", "40"]);
  t.after(() => network.stop());
  const [first] = network.nodes as [(typeof network.nodes)[0]];
  const height = async (node: typeof first) => Number(await node.client.getBlockNumber({ cacheTime: 0 }));
  await eventually("the first blocks", async () => (await height(first)) >= 2);
  const last = network.nodes.at(-1)!;
  await eventually("the last node has a block", async () => (await height(last)) >= 1);
  // A vote of one of four, which changes no set and is part of the consensus data of its block.
  const [candidate] = (await last.request("clique_getSigners", "latest")) as string[];
  await last.request("clique_propose", candidate, false);
  for (let round = 0; round < 5; round++) for (const node of network.nodes) await network.send(node);
  // A light client needs two blocks beyond the snapshot; and the newest two have to outlive the 15 s in which CometBFT looks for them.
  await eventually("a snapshot and three blocks", async () => (await height(first)) >= 43);

  const trusted = await first.trusted(3);
  const joined = await network.join([
    "--cometbft.state-sync-servers",
    network.nodes
      .slice(0, 2)
      .map(({ engineRpc }) => engineRpc)
      .join(),
    "--cometbft.trust-block",
    `${trusted.height}:${trusted.hash}`,
    "--index.path",
    INDEX_PATH,
  ]);
  joined.start();
  const synced = await eventually("the new node has the newest block", async () => {
    return (await height(joined)) >= (await height(first)) - 1;
  });
  t.diagnostic(`restored and caught up after ${synced | 0} ms`);
  assertIndexElsewhere(joined.home);

  await assert.rejects(joined.client.getBlock({ blockNumber: 1n }), (error) => {
    return /pruned history unavailable/.test(String(error));
  });
  const target = (await height(first)) + 3;
  await eventually("it follows", async () => (await height(joined)) >= target);
  for (let number = target - 3; number <= target; number++) {
    const [ours, theirs] = await Promise.all(
      [joined, first].map(({ client }) => client.getBlock({ blockNumber: BigInt(number) })),
    );
    assert.equal(ours!.hash, theirs!.hash);
  }
  await joined.stop();
  await network.send(first);
  joined.start();
  const hash = network.hashes.at(-1)!;
  await eventually("it follows after a restart", async () => {
    return (await joined.client.getTransactionReceipt({ hash })).status === "success";
  });
  assertIndexElsewhere(joined.home);

  await t.test(
    "it begins again from a snapshot, by the lines of the page, with its signing state as it was",
    async () => {
      await joined.stop();
      const signed = readSigningState(cometbftPath(joined.home));
      beginAgain(joined.home);
      assert.ok(!existsSync(dataPath(joined.home)) && isEngineStoreEmpty(cometbftPath(joined.home)));
      assert.deepEqual(readSigningState(cometbftPath(joined.home)), signed);
      const newer = await first.trusted((await height(first)) - 5);
      joined.flags.push("--cometbft.trust-block", `${newer.height}:${newer.hash}`);
      joined.start();
      await eventually("it is ready", async () => (await joined.problem()) === undefined);
      const next = (await height(first)) + 2;
      await eventually("it follows again", async () => (await height(joined)) >= next);
      await joined.stop();
      assertIndexElsewhere(joined.home);
    },
  );

  // What the servers answer of each block is what a node that executed it has stored.
  await last.stop();
  const { config } = loadConfig({ home: last.home, dev: false, flags: {}, environment: {} });
  const { chain, store } = openChain(config, { log: STRICT_LOGGER, timers: fatalTimers });
  const source = new StateSyncServers(
    {
      servers: network.nodes.slice(0, 2).map(({ engineRpc }) => parseRpcAddress(engineRpc)!),
      chainId: engineChainId(chain.config.chainId),
      startingSet: readStartingSet(cometbftPath(last.home)),
      jail: false,
    },
    { log: STRICT_LOGGER, timers: fatalTimers },
  );
  let votes = 0;
  const end = chain.head().block.header.number;
  try {
    for (let number = 1; number <= end; number++) {
      const data = await source.consensusDataOf(number);
      const stored = bytesToHex(chain.consensusDataOf(number));
      assert.equal(bytesToHex(encodeConsensusData(data)), stored, `block ${number}`);
      if (data.cast !== undefined) votes++;
    }
  } finally {
    store.close();
  }
  t.diagnostic(`consensus data of ${end} blocks, ${votes} with a vote`);
  assert.ok(votes > 0);
});

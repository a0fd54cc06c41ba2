import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createPublicClient } from "viem";
import { overIpc } from "../support/clients.ts";
import { runEvmintd, spawnEvmintd } from "../support/evmintd.ts";
import { patientHttp } from "../support/viem-clients.ts";
import { eventually, whyLeftOut } from "./network.ts";

test("a solo chain goes on under CometBFT from the block after its newest, also after a restart", {
  skip: whyLeftOut(),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-network-solo-"));
  const home = join(folder, "home");
  const client = createPublicClient({ transport: patientHttp("http://127.0.0.1:19745") });
  let running: ReturnType<typeof spawnEvmintd> | undefined;
  const stop = async () => {
    running?.child.kill("SIGTERM");
    await running?.exited;
  };
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (...flags: string[]) => {
    running = spawnEvmintd([
      "start",
      "--home",
      home,
      "--json-rpc.enable",
      "true",
      "--json-rpc.address",
      "127.0.0.1:19745",
      "--json-rpc.ws-address",
      "127.0.0.1:19746",
      ...flags,
    ]);
  };
  const height = async () => Number(await client.getBlockNumber({ cacheTime: 0 }));
  const reaches = (number: number) => eventually(`block ${number}`, async () => (await height()) >= number);
  const signers = async (number: number) => {
    const path = join(home, "evmint.ipc");
    const params = [`0x${number.toString(16)}`];
    return (await overIpc(path, "clique_getSigners", params)).result as string[];
  };

  assert.equal((await runEvmintd(["init", "--home", home])).code, 0);
  start("--consensus.block-time", "1s");
  await reaches(3);
  await stop();
  const network = [
    "--consensus.engine",
    "cometbft",
    "--consensus.block-time",
    "500ms",
    "--cometbft.p2p-address",
    "127.0.0.1:26756",
  ];
  start(...network);
  await eventually("it answers", async () => (await height()) >= 3);
  const last = await height();
  const solo = await client.getBlock({ blockNumber: 3n });
  await reaches(last + 4);
  const [validator] = await signers(last + 4);
  assert.notEqual(validator, `0x${"00".repeat(20)}`);
  assert.notDeepEqual(await signers(1), [validator]);
  await stop();
  start(...network);
  await reaches(last + 8);
  assert.equal((await client.getBlock({ blockNumber: 3n })).hash, solo.hash);
  for (let number = 1; number <= last + 8; number++) {
    const block = await client.getBlock({ blockNumber: BigInt(number) });
    const parent = await client.getBlock({ blockNumber: BigInt(number - 1) });
    assert.equal(block.parentHash, parent.hash);
  }
});

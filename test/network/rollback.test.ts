import assert from "node:assert/strict";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cometbftPath, setAsidePath } from "../../src/node/config/home.ts";
import { runEvmintd } from "../support/evmintd.ts";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

test("a chain ahead of CometBFT's store is rolled back to it only as far as allowed, and what is removed can be imported", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.start(1, 0);
  t.after(() => network.stop());
  const [node] = network.nodes as [NetworkNode];
  const reaches = (number: number) => eventually(`block ${number}`, async () => (await node.height()) >= number);
  const hashAt = async (number: number) => (await node.client.getBlock({ blockNumber: BigInt(number) })).hash;

  // Its signing state is restored as well, which a validator among others must never do: this one would sign nothing else.
  const store = join(cometbftPath(node.home), "data");
  const copy = join(network.folder, "copy");
  await reaches(3);
  await node.stop();
  cpSync(store, copy, { recursive: true });
  node.start();
  await eventually("it answers", async () => (await node.height()) >= 3);
  const stored = await node.height();
  await reaches(stored + 4);
  await node.stop();
  rmSync(store, { recursive: true });
  cpSync(copy, store, { recursive: true });

  node.flags.push("--cometbft.rollback-blocks", "1");
  node.start();
  await eventually("it stays down", async () => {
    return /cometbft.rollback-blocks/.test((await node.problem()) ?? "");
  });
  const head = await node.height();
  assert.ok(head >= stored + 4);
  const hash = await hashAt(head);
  assert.throws(() => readdirSync(setAsidePath(node.home)), { code: "ENOENT" });
  await node.stop();

  // It has seen the blocks of its own key meanwhile, and would sign none of these heights again.
  const signingState = "priv_validator_state.json";
  cpSync(join(copy, signingState), join(store, signingState));
  node.flags.push("--cometbft.rollback-blocks", String(head));
  node.start();
  await eventually("it goes on from the store", async () => {
    return (await node.height()) > 0 && (await hashAt(head).catch(() => undefined)) !== hash;
  });
  await reaches(head + 1);
  const [file] = readdirSync(setAsidePath(node.home)) as [string];
  const first = Number(file.split("-")[0]);
  // The last block of its store is executed again.
  assert.ok(first >= 3 && first <= stored, file);
  await node.stop();

  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runEvmintd([...args, "--home", node.home]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as { readonly head: number };
  };
  const ahead = (await run("rollback", "1")).head;
  await run("rollback", String(ahead - first + 1));
  const imported = await run("import", join(setAsidePath(node.home), file));
  assert.equal(imported.head, head);
});

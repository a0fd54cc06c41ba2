import assert from "node:assert/strict";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setAsideStore } from "../../src/consensus/cometbft/process/engine-store.ts";
import { cometbftPath, dataPath, genesisPath } from "../../src/node/config/home.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { runEvmintd } from "../support/evmintd.ts";
import { assertSameChain, eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

/** Changes one byte in the middle of the newest file of the log. */
function damageLog(home: string): void {
  const log = join(dataPath(home), "log");
  const file = join(log, readdirSync(log).sort().at(-1)!);
  const position = Math.floor(statSync(file).size / 2);
  const descriptor = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(descriptor, byte, 0, 1, position);
  writeSync(descriptor, Buffer.from([byte[0]! ^ 0xff]), 0, 1, position);
  closeSync(descriptor);
}

/** What `evmintd start` says that ends by itself. */
async function errorOfStart(node: NetworkNode): Promise<string> {
  const { code, stderr } = await runEvmintd(["start", "--home", node.home, ...node.flags]);
  assert.equal(code, 1, stderr);
  return stderr.trimEnd().split("\n").at(-1)!;
}

test("a damaged log and a wrong block 0 end the start with the remedy, which helps", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.create({ validators: 1, followers: 1, funded: [DEV_ADDRESSES[0]] });
  t.after(() => network.stop());
  const { nodes } = network;
  const [validator, follower] = nodes as [NetworkNode, NetworkNode];
  for (const node of nodes) node.start();
  await eventually("block 8", async () => (await follower.height()) >= 8);
  await follower.stop();
  const isBack = async () => {
    follower.start();
    await eventually("it is ready", async () => (await follower.problem()) === undefined);
    const target = (await validator.height()) + 1;
    await eventually("it goes on", async () => (await follower.height()) >= target);
    await follower.stop();
  };

  await t.test("the log is damaged: the chain is made again of CometBFT's blocks", async () => {
    damageLog(follower.home);
    rmSync(join(dataPath(follower.home), "index"), { recursive: true });
    const error = await errorOfStart(follower);
    t.diagnostic(error);
    assert.match(error, /log is damaged .*move data\/ away/);
    renameSync(dataPath(follower.home), join(network.folder, "damaged"));
    await isBack();
  });

  const engineGenesis = join(cometbftPath(follower.home), "config", "genesis.json");
  for (const [file, wrong] of [
    [engineGenesis, (text: string) => text.replace(/("evmGenesis": *"0x)../, "$1ff")],
    [genesisPath(follower.home), (text: string) => text.replace(/("extraData": *"0x)/, "$1ff")],
  ] as const) {
    await t.test(`block 0 is another by ${file.split("/").slice(-3).join("/")}`, async () => {
      const right = readFileSync(file, "utf8");
      assert.notEqual(wrong(right), right);
      writeFileSync(file, wrong(right));
      const error = await errorOfStart(follower);
      t.diagnostic(error);
      assert.match(error, /genesis/);
      writeFileSync(file, right);
      await isBack();
    });
  }

  await t.test("the genesis file begins with other forks: no block is executed, and the fork is named", async () => {
    const file = genesisPath(follower.home);
    const right = readFileSync(file, "utf8");
    const wrong = right.replace(/("osakaTime": *)0\b/, "$11990000000");
    assert.notEqual(wrong, right);
    writeFileSync(file, wrong);
    rmSync(dataPath(follower.home), { recursive: true });
    setAsideStore(cometbftPath(follower.home), join(network.folder, "other-forks"));
    const error = await errorOfStart(follower);
    t.diagnostic(error);
    assert.match(error, /osakaTime/);
    assert.ok(!existsSync(dataPath(follower.home)));
    writeFileSync(file, right);
    await isBack();
  });

  await t.test("the blocks before the network's first one are missing: it stays down with the reason", async () => {
    const right = readFileSync(engineGenesis, "utf8");
    rmSync(dataPath(follower.home), { recursive: true });
    setAsideStore(cometbftPath(follower.home), join(network.folder, "store"));
    writeFileSync(engineGenesis, right.replace(/("initial_height": *)"1"/, '$1"100"'));
    follower.start();
    follower.allowErrors(/initial height is 100/);
    await eventually("it says why", async () => /initial height/.test((await follower.problem()) ?? ""));
    await follower.stop();
    writeFileSync(engineGenesis, right);
    // CometBFT has stored the genesis that it was started with.
    setAsideStore(cometbftPath(follower.home), join(network.folder, "other-store"));
    await isBack();
  });

  follower.start();
  await eventually("it answers", async () => (await follower.height()) > 0);
  await assertSameChain(nodes);
});

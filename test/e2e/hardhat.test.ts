import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

/**
 * Hardhat 3 wants Node 22.13 and binaries of its own, so it is no dependency. `HARDHAT_DIR` names a folder where it is
 * installed; a newer Node comes from the npm package `node` in the same folder, or is the one that runs this test.
 */
const PLUGINS = ["hardhat-network-helpers", "hardhat-viem", "hardhat-ignition", "hardhat-ignition-viem"];
const folder = process.env["HARDHAT_DIR"];
const modules = folder && join(folder, "node_modules");
const skip =
  modules && existsSync(join(modules, "hardhat"))
    ? false
    : "left out: HARDHAT_DIR names no folder with Hardhat 3 (see CONTRIBUTING.md)";

const skipPlugins =
  skip ||
  (PLUGINS.every((name) => existsSync(join(modules!, "@nomicfoundation", name)))
    ? false
    : `left out: HARDHAT_DIR lacks one of ${PLUGINS.join(", ")}`);

const token = contract("Token");
let node: TestNode;
let project: string;

before(async () => {
  if (skip) return;
  // The network helpers work with nodes whose name they know.
  node = await startTestNode({ dev: true });
  project = mkdtempSync(join(tmpdir(), "evmint-hardhat-"));
  symlinkSync(modules!, join(project, "node_modules"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  const network = { type: "http", url: node.url, accounts: "remote" };
  writeFileSync(
    join(project, "hardhat.config.ts"),
    `import { defineConfig } from "hardhat/config";
     const load = async (name) => (await import("@nomicfoundation/" + name)).default;
     const plugins = [];
     if (process.env.WITH_PLUGINS) {
       plugins.push(await load("hardhat-network-helpers"), await load("hardhat-viem"));
       plugins.push(await load("hardhat-ignition"), await load("hardhat-ignition-viem"));
     }
     export default defineConfig({ plugins, networks: { evmint: ${JSON.stringify(network)} } });`,
  );
});
after(async () => {
  if (skip) return;
  await node.stop();
  rmSync(project, { recursive: true, force: true });
});

/** Output of `hardhat run` in a project. */
async function hardhatIn(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const newer = join(modules!, "node", "bin", "node");
  const { stdout } = await promisify(execFile)(
    existsSync(newer) ? newer : process.execPath,
    [join(modules!, "hardhat", "dist", "src", "cli.js"), "run", "--no-compile", ...args],
    { cwd, env: { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", CI: "1", ...env } },
  );
  return stdout;
}

/** What `script` leaves in `answer`, run by Hardhat with a connection to the node's network. */
async function hardhatRun(script: string, env: NodeJS.ProcessEnv = {}): Promise<Readonly<Record<string, unknown>>> {
  writeFileSync(
    join(project, "script.ts"),
    `import { network } from "hardhat";
     const connection = await network.connect("evmint");
     const { provider, networkHelpers: helpers, ignition } = connection;
     const ask = (method, ...params) => provider.request({ method, params });
     const answer = {};
     ${script}
     console.log("answer " + JSON.stringify(answer));`,
  );
  const stdout = await hardhatIn(project, ["--network", "evmint", "script.ts"], env);
  const line = stdout.split("\n").find((text) => text.startsWith("answer "));
  assert.ok(line, stdout);
  return JSON.parse(line.slice("answer ".length)) as Record<string, unknown>;
}

test("Hardhat 3 deploys and sends from accounts the node manages", { skip }, async () => {
  const supply = "3e8".padStart(64, "0");
  const transfer = `a9059cbb${DEV_ADDRESSES[1].slice(2).padStart(64, "0")}${"190".padStart(64, "0")}`;
  const answer = await hardhatRun(`
    const [from] = (answer.accounts = await ask("eth_accounts"));
    const receiptOf = async (tx) => {
      const hash = await ask("eth_sendTransaction", { from, ...tx });
      for (;;) {
        const receipt = await ask("eth_getTransactionReceipt", hash);
        if (receipt) return receipt;
      }
    };
    const { contractAddress: to } = await receiptOf({ data: "${token.bytecode}${supply}" });
    answer.sent = await receiptOf({ to, data: "0x${transfer}" });
    const balanceOf = "0x70a08231${DEV_ADDRESSES[1].slice(2).padStart(64, "0")}";
    answer.balance = await ask("eth_call", { to, data: balanceOf }, "latest");
  `);
  assert.deepEqual(
    (answer["accounts"] as string[]).slice(0, 2).map((address) => address.toLowerCase()),
    DEV_ADDRESSES.slice(0, 2).map((address) => address.toLowerCase()),
  );
  const sent = answer["sent"] as { status: string; from: string; logs: unknown[] };
  assert.equal(sent.status, "0x1");
  assert.equal(sent.logs.length, 1);
  assert.equal(BigInt(answer["balance"] as string), 400n);
});

test("the plugin's network is a chain in Hardhat's process, one for each connection", { skip }, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-hardhat-plugin-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  mkdirSync(join(folder, "node_modules"));
  const names = readdirSync(modules!).filter((name) => name !== "evmint" && !name.startsWith("."));
  for (const name of names) symlinkSync(join(modules!, name), join(folder, "node_modules", name));
  symlinkSync(fileURLToPath(new URL("../..", import.meta.url)), join(folder, "node_modules/evmint"));
  writeFileSync(
    join(folder, "hardhat.config.ts"),
    `import evmint from "evmint/hardhat";
     import { defineConfig } from "hardhat/config";
     export default defineConfig({ plugins: [evmint] });`,
  );
  writeFileSync(
    join(folder, "script.ts"),
    `import { network } from "hardhat";
     const [one, other] = [await network.create(), await network.create("evmint")];
     const ask = ({ provider }, method, ...params) => provider.request({ method, params });
     const [from, to] = await ask(one, "eth_accounts");
     const hash = await ask(one, "eth_sendTransaction", { to, value: "0x1" });
     const receipt = await ask(one, "eth_getTransactionReceipt", hash);
     const answer = {
       isFirst: receipt.from === from,
       heads: [await ask(one, "eth_blockNumber"), await ask(other, "eth_blockNumber")],
       code: await ask(one, "eth_nope").catch((error) => error.code),
     };
     console.log("answer " + JSON.stringify(answer));`,
  );
  const stdout = await hardhatIn(folder, ["--network", "evmint", "script.ts"]);
  const line = stdout.split("\n").find((text) => text.startsWith("answer "));
  assert.deepEqual(JSON.parse(line!.slice("answer ".length)), { isFirst: true, heads: ["0x1", "0x0"], code: -32601 });
});

test("every function of Hardhat's network helpers works", { skip: skipPlugins }, async () => {
  const answer = await hardhatRun(
    `const [alice, bob] = await ask("eth_accounts");
     const stranger = "0x00000000000000000000000000000000000beef1";
     const number = async () => Number(await ask("eth_blockNumber"));
     const { time } = helpers;
     const start = await number();
     const restorer = await helpers.takeSnapshot();
     await helpers.setBalance(stranger, 10n ** 18n);
     await helpers.setNonce(stranger, 9);
     await helpers.setCode(stranger, "0x6001");
     await helpers.setStorageAt(stranger, 5, 77);
     answer.balance = await ask("eth_getBalance", stranger, "latest");
     answer.nonce = await ask("eth_getTransactionCount", stranger, "latest");
     answer.code = await ask("eth_getCode", stranger, "latest");
     answer.storage = await helpers.getStorageAt(stranger, 5);
     await helpers.setNextBlockBaseFeePerGas(123_456_789_000n);
     await helpers.setPrevRandao(7);
     await helpers.setCoinbase(stranger);
     await helpers.setBlockGasLimit(12_345_678n);
     await helpers.mine();
     answer.block = await ask("eth_getBlockByNumber", "latest", false);
     await helpers.mine(3, { interval: 60 });
     await helpers.mineUpTo((await number()) + 5);
     answer.mined = (await number()) - start;
     const latest = await time.latest();
     await time.setNextBlockTimestamp(latest + 1000);
     await helpers.mine();
     answer.set = (await time.latest()) - latest;
     await time.increase(500);
     await time.increaseTo(latest + 2000);
     answer.increased = (await time.latest()) - latest;
     answer.latestBlock = (await time.latestBlock()) - start;
     answer.duration = time.duration.days(1);
     await helpers.setCode(stranger, "0x");
     await helpers.impersonateAccount(stranger);
     const sent = await ask("eth_sendTransaction", { from: stranger, to: bob, value: "0x1" });
     answer.impersonated = (await ask("eth_getTransactionReceipt", sent)).from;
     await helpers.stopImpersonatingAccount(stranger);
     await ask("evm_setAutomine", false);
     const waiting = await ask("eth_sendTransaction", { from: alice, to: bob, value: "0x1" });
     answer.dropped = await helpers.dropTransaction(waiting);
     await ask("evm_setAutomine", true);
     const fixture = async () => { await helpers.setBalance(stranger, 5); return 1; };
     await helpers.loadFixture(fixture);
     await helpers.setBalance(stranger, 6);
     await helpers.loadFixture(fixture);
     answer.fixture = await ask("eth_getBalance", stranger, "latest");
     helpers.clearSnapshots();
     await restorer.restore();
     answer.restored = (await number()) - start;`,
    { WITH_PLUGINS: "1" },
  );
  const block = answer["block"] as Record<string, string>;
  assert.deepEqual(
    { ...answer, block: undefined },
    {
      balance: "0xde0b6b3a7640000",
      nonce: "0x9",
      code: "0x6001",
      block: undefined,
      storage: `0x${"4d".padStart(64, "0")}`,
      mined: 9,
      set: 1000,
      increased: 2000,
      latestBlock: 12,
      duration: 86_400,
      impersonated: "0x00000000000000000000000000000000000beef1",
      dropped: true,
      fixture: "0x5",
      restored: 0,
    },
  );
  assert.equal(block["baseFeePerGas"], "0x1cbe991a08");
  assert.equal(block["mixHash"], `0x${"7".padStart(64, "0")}`);
  assert.equal(block["miner"], "0x00000000000000000000000000000000000beef1");
  assert.equal(block["gasLimit"], "0xbc614e");
});

test("Hardhat Ignition deploys a module and finds it again", { skip: skipPlugins }, async () => {
  const answer = await hardhatRun(
    `const { buildModule } = await import("@nomicfoundation/hardhat-ignition/modules");
     const artifact = {
       _format: "hh3-artifact-1", contractName: "Token", sourceName: "Token.sol",
       abi: ${JSON.stringify(token.abi)}, bytecode: "${token.bytecode}",
       deployedBytecode: "${token.runtime}", linkReferences: {}, deployedLinkReferences: {},
     };
     const module = buildModule("TokenModule", (m) => {
       const token = m.contract("Token", artifact, [1000n]);
       m.call(token, "transfer", ["${DEV_ADDRESSES[1]}", 400n]);
       return { token };
     });
     const options = { deploymentId: "test" };
     const first = await ignition.deploy(module, options);
     const second = await ignition.deploy(module, options);
     answer.address = first.token.address;
     answer.again = second.token.address;
     answer.balance = Number(await first.token.read.balanceOf(["${DEV_ADDRESSES[1]}"]));`,
    { WITH_PLUGINS: "1" },
  );
  assert.match(answer["address"] as string, /^0x[0-9a-fA-F]{40}$/);
  assert.equal(answer["again"], answer["address"]);
  assert.equal(answer["balance"], 400);
});

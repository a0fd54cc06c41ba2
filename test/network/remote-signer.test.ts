import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { KEY_FILES, readValidatorKey, validatorPrivateKey } from "../../src/consensus/cometbft/signing/key-files.ts";
import { cometbftPath } from "../../src/node/config/home.ts";
import { runEvmintd } from "../support/evmintd.ts";
import { eventually, Network, whyLeftOut } from "./network.ts";
import { RemoteSigner } from "./signer/remote-signer.ts";

const PORT = 27_900;

test("two validators sign with remote signers, one over a unix socket and one over TCP, and have no key in their homes", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.create({ validators: 4 });
  t.after(() => network.stop());
  const remote = network.nodes.slice(0, 2).map((node, index) => {
    const directory = cometbftPath(node.home);
    const { address } = readValidatorKey(directory);
    const at = index === 0 ? `unix://${join(network.folder, "signer.sock")}` : `tcp://127.0.0.1:${PORT}`;
    const privateKey = validatorPrivateKey(directory);
    const signer = new RemoteSigner(at, privateKey);
    t.after(() => signer.close());
    rmSync(join(directory, KEY_FILES.validator));
    node.flags.push("--cometbft.priv-validator-laddr", at);
    node.flags.push("--cometbft.validator-public-key", bytesToHex(signer.publicKey));
    return { node, signer, address, directory, at, privateKey };
  });
  for (const node of network.nodes) node.start();
  const reaches = (height: number) =>
    eventually(`block ${height}`, async () => (await network.nodes[3]!.height()) >= height);

  t.diagnostic(`block 8 after ${Math.round(await reaches(8))} ms`);
  for (const { node, signer, address, directory } of remote) {
    await eventually(`${address} signs`, async () => (await node.committers((await node.height()) - 1)).has(address));
    assert.ok(signer.votes > 0);
    assert.equal(await node.problem(), undefined);
    assert.equal(existsSync(join(directory, KEY_FILES.validator)), false);
    const shown = await runEvmintd(["validator", "show", "--home", node.home, ...node.flags.slice(-4)]);
    assert.equal(JSON.parse(shown.stdout).address, address);
    const { code, stdout } = await runEvmintd(["engine", "status", "--home", node.home, ...node.flags.slice(-4)]);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).validatorAddress, address.slice(2).toUpperCase());
  }
  await eventually("a proposal", async () => remote.every(({ signer }) => signer.proposals > 0));

  const [first] = remote;
  first!.signer.close();
  first!.node.killEngine();
  await eventually("it waits for its signer", async () => {
    return /waiting for the remote signer/.test((await first!.node.problem()) ?? "");
  });
  const back = new RemoteSigner(first!.at, first!.privateKey);
  t.after(() => back.close());
  const ms = await eventually("it signs again", async () => (await first!.node.problem()) === undefined);
  t.diagnostic(`the signer is back after ${Math.round(ms)} ms`);
  await first!.node.kill();
  await reaches((await network.nodes[3]!.height()) + 3);
  first!.node.start();
  await eventually("it signs again", async () => {
    const height = (await first!.node.height()) - 1;
    return (await first!.node.problem()) === undefined && (await first!.node.committers(height)).has(first!.address);
  });
  const state = readFileSync(join(first!.directory, "data/priv_validator_state.json"), "utf8");
  assert.equal(JSON.parse(state).height, "0", "signed by nobody else");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { formerKeys, readNextKey, readValidatorKey } from "../../src/consensus/cometbft/signing/key-files.ts";
import { cometbftPath } from "../../src/node/config/home.ts";
import { runEvmintd } from "../support/evmintd.ts";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

test("a validator rotates its key by one command, killed in between, and no block has fewer validators", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.start(4, 0);
  t.after(() => network.stop());
  const [validator, ...others] = network.nodes as [NetworkNode, ...NetworkNode[]];
  const voters = others.slice(0, 2);
  const directory = cometbftPath(validator.home);
  const old = readValidatorKey(directory).address;
  await eventually("block 3", async () => (await validator.height()) >= 3);
  const rotate = (...flags: string[]) => runEvmintd(["validator", "rotate-key", "--home", validator.home, ...flags]);

  for (let call = 0; call < 2; call++) {
    const { code, stdout, stderr } = await rotate("--no-wait");
    assert.equal(code, 0, stderr);
    if (call === 0) t.diagnostic(stdout);
  }
  const { address, publicKey } = readNextKey(directory)!;
  const first = await validator.height();
  const waiting = rotate();
  const isIn = async () => ((await others[0]!.request("clique_getSigners")) as string[]).includes(address);
  // As docs/operations/keys.md has it: the old key is voted out once the new one is in.
  for (const node of voters) await node.request("clique_propose", address, true, bytesToHex(publicKey));
  await eventually("the new key is in", isIn);
  for (const node of voters) await node.request("clique_propose", old, false);
  await eventually("the new key is in place", async () => readValidatorKey(directory).address === address);
  await validator.killBoth();
  await waiting;
  validator.start();
  await eventually("it answers", async () => (await validator.height()) > 0);
  const { code, stdout, stderr } = await rotate();
  t.diagnostic(stdout);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    formerKeys(directory).map((key) => key.address),
    [old],
  );
  const signers = (await others[0]!.request("clique_getSigners")) as string[];
  assert.equal(signers.length, 4);
  const counts: number[] = [];
  const last = await others[0]!.height();
  for (let number = first; number <= last; number++) {
    const at = await others[0]!.request("clique_getSigners", `0x${number.toString(16)}`);
    counts.push((at as string[]).length);
  }
  t.diagnostic(`validators after blocks ${first} to ${last}: ${counts.join(" ")}`);
  assert.equal(Math.min(...counts), 4);
  assert.equal(Math.max(...counts), 5);
  assert.ok(signers.includes(address) && !signers.includes(old));
  await eventually("it signs with the new key", async () => {
    const signed = await others[0]!.committers((await others[0]!.height()) - 1);
    return signed.has(address) && !signed.has(old) && (await validator.problem()) === undefined;
  });
  assert.match((await rotate()).stdout, /^done/);
  assert.doesNotMatch(network.nodes.map((node) => node.log()).join(""), /double-signed/);
});

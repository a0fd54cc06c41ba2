import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { addressFromPrivateKey } from "../crypto/secp256k1.ts";
import { hexToBytes } from "../primitives/hex.ts";
import type { NetworkFile } from "./commands/init.ts";
import { runCli } from "./program.ts";
import { fakeContext } from "./testing/fake-context.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-engine-"));
const net = join(folder, "net");
const validator = join(net, "validator-0");
after(() => rmSync(folder, { recursive: true }));

async function run(...args: string[]) {
  const world = fakeContext();
  const code = await runCli(args, world.context);
  return { code, ...world.output };
}

before(async () => {
  const made = ["--output", net, "--validators", "3", "--full-nodes", "1", "--block-time", "500ms"];
  const { code, stderr } = await run("testnet", ...made);
  assert.equal(code, 0, stderr);
});

test("testnet writes homes with one genesis, keys of their own, and a script", () => {
  const names = ["validator-0", "validator-1", "validator-2", "node-3"];
  const read = (name: string, file: string) => readFileSync(join(net, name, file), "utf8");
  for (const file of ["config/genesis.json", "cometbft/config/genesis.json"]) {
    assert.equal(new Set(names.map((name) => read(name, file))).size, 1, file);
  }
  for (const file of ["node_key.json", "priv_validator_key.json"]) {
    assert.equal(new Set(names.map((name) => read(name, `cometbft/config/${file}`))).size, 4, file);
  }
  const genesis = JSON.parse(read("node-3", "cometbft/config/genesis.json"));
  assert.deepEqual(
    genesis.validators.map(({ name }: { name: string }) => name),
    names.slice(0, 3),
  );
  assert.equal(statSync(join(net, "start.sh")).mode & 0o777, 0o755);
  for (const name of names) {
    assert.ok(readFileSync(join(net, "start.sh"), "utf8").includes(`--home ${name} `));
  }
});

test("testnet does not write into a folder that is not empty", async () => {
  const { code, stderr } = await run("testnet", "--output", net);
  assert.equal(code, 1);
  assert.match(stderr, /not empty/);
});

test("validator show prints address, key and node id; validator key the private key of that address", async () => {
  const shown = await run("validator", "show", "--home", validator);
  assert.equal(shown.code, 0);
  const { address, publicKey, nodeId } = JSON.parse(shown.stdout);
  assert.match(publicKey, /^0x0[23][0-9a-f]{64}$/);
  assert.match(nodeId, /^[0-9a-f]{40}$/);
  const key = await run("validator", "key", "--home", validator);
  assert.equal(addressFromPrivateKey(hexToBytes(key.stdout.trim())), address);
});

test("commands of the engine say where there is none", async () => {
  const solo = join(folder, "solo");
  await run("init", "--home", solo);
  for (const command of [
    ["validator", "show"],
    ["validator", "key"],
    ["engine", "invite"],
  ]) {
    const { code, stdout } = await run(...command, "--home", solo);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: "" });
  }
});

test("init --join makes a home of the same chain that knows the inviting node", async () => {
  const invited = await run("engine", "invite", "--home", validator);
  assert.equal(invited.code, 0);
  const file = join(folder, "network.json");
  writeFileSync(file, invited.stdout);
  const network = JSON.parse(invited.stdout) as NetworkFile;
  assert.equal(network.peers.length, 4);
  const home = join(folder, "joined");
  assert.equal((await run("init", "--home", home, "--join", file)).code, 0);
  for (const path of ["config/genesis.json", "cometbft/config/genesis.json"]) {
    assert.deepEqual(readFileSync(join(home, path)), readFileSync(join(validator, path)), path);
  }
  const { stdout } = await run("config", "show", "--home", home);
  assert.match(stdout, /engine = "cometbft"/);
  assert.match(stdout, /block-time = "500ms"/);
  for (const peer of network.peers) assert.ok(stdout.includes(peer));
});

test("init --join rejects other files and other geneses, and changes nothing", async () => {
  const file = join(folder, "other.json");
  const home = join(folder, "not-joined");
  for (const text of ["", "{}", "null", "[]", '{"genesis":"","engineGenesis":"","peers":[1]}']) {
    writeFileSync(file, text);
    assert.equal((await run("init", "--home", home, "--join", file)).code, 1, text);
  }
  assert.equal((await run("init", "--home", home, "--join", join(folder, "none"))).code, 2);
  const both = await run("init", "--home", home, "--join", file, "--chain-id", "5");
  assert.equal(both.code, 2);
  assert.equal(existsSync(home), false);
});

test("engine status prints what CometBFT answers, and fails where nothing answers", async () => {
  const answers: Readonly<Record<string, object>> = {
    status: {
      node_info: {
        id: "ab",
        moniker: "m",
        version: "0.39.0",
        network: "n",
        listen_addr: "tcp://a:1",
      },
      sync_info: {
        catching_up: false,
        earliest_block_height: "1",
        latest_block_height: "7",
        latest_block_hash: "AB",
      },
      validator_info: { address: "AA", voting_power: "1" },
    },
    net_info: { peers: [] },
    consensus_state: { round_state: { "height/round/step": "8/1/3", height_vote_set: [] } },
  };
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      response.end(JSON.stringify({ result: answers[JSON.parse(text).method] }));
    });
  });
  const socket = join(validator, "cometbft", "rpc.sock");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const status = () => run("engine", "status", "--home", validator);
  const { code, stdout } = await status();
  assert.equal(code, 0);
  const { latestHeight, votingPower, step, peers } = JSON.parse(stdout);
  assert.deepEqual(
    { latestHeight, votingPower, step, peers },
    { latestHeight: 7, votingPower: 1, step: { height: 8, round: 1, step: 3 }, peers: [] },
  );
  await new Promise((resolve) => server.close(resolve));
  assert.equal((await status()).code, 1);
});

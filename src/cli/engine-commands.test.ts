import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fakeContext } from "../../test/support/cli/fake-context.ts";
import { addressFromPrivateKey } from "../base/crypto/secp256k1.ts";
import { hexToBytes } from "../base/primitives/hex.ts";
import { ifPresent } from "../store/storage/if-present.ts";
import type { NetworkFile } from "./commands/network-file.ts";
import { runCli } from "./program.ts";

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
    assert.ok(readFileSync(join(net, "start.sh"), "utf8").includes(`\nstart ${name}\n`));
  }
});

test("testnet does not write into a folder that is not empty", async () => {
  const { code, stderr } = await run("testnet", "--output", net);
  assert.equal(code, 1);
  assert.match(stderr, /not empty/);
});

test("testnet and init --account-permissions name the contract in the genesis, and in that of CometBFT", async () => {
  const [owner, funded] = [`0x${"11".repeat(20)}`, `0x${"22".repeat(20)}`];
  const output = join(folder, "permissioned");
  const flags = ["--account-permissions", owner, "--fund", funded];
  const made = await run("testnet", "--output", output, "--validators", "1", ...flags);
  assert.equal(made.code, 0, made.stderr);
  const read = (file: string) => JSON.parse(readFileSync(join(output, "validator-0", file), "utf8"));
  const { accountPermissions } = read("config/genesis.json").config.evmint;
  assert.ok(read("config/genesis.json").alloc[accountPermissions].code.length > 2);
  assert.equal(read("cometbft/config/genesis.json").app_state.rules, `accountPermissions=${accountPermissions}`);
  const home = join(folder, "permissioned-home");
  for (const wrong of [
    ["--account-permissions", "0x00"],
    ["--genesis", "x.json", ...flags],
    ["--join", "x", ...flags],
  ]) {
    const { code } = await run("init", "--home", home, ...wrong);
    assert.equal(code, 2, wrong.join(" "));
  }
  assert.equal((await run("init", "--home", home, ...flags)).code, 0);
  const { evmint } = JSON.parse(readFileSync(join(home, "config/genesis.json"), "utf8")).config;
  assert.deepEqual(evmint, { accountPermissions });
});

test("testnet --port-offset moves every port", async () => {
  const moved = join(folder, "moved");
  const made = await run("testnet", "--output", moved, "--validators", "2", "--port-offset", "1000");
  assert.equal(made.code, 0, made.stderr);
  const settings = readFileSync(join(moved, "validator-1", "config", "app.toml"), "utf8");
  const ports = [...settings.matchAll(/^[a-z0-9-]+ = .*127\.0\.0\.1:(\d+)"/gm)].map(([, port]) => Number(port));
  assert.deepEqual(
    ports.sort((a, b) => a - b),
    // The peer that it knows, and its own: metrics, HTTP, WebSocket, peers.
    [7_070, 9_555, 9_556, 27_656, 27_666],
  );
  assert.match(readFileSync(join(moved, "prometheus.yaml"), "utf8"), /127\.0\.0\.1:7060/);
  assert.match(
    readFileSync(join(moved, "compose.yaml"), "utf8"),
    /\[CMD, evmintd, ready, --home, \/net\/validator-1\]/,
  );
  const below = join(folder, "below");
  assert.equal((await run("testnet", "--output", below, "--validators", "1", "--port-offset", "-5000")).code, 0);
  const lower = readFileSync(join(below, "validator-0", "config", "app.toml"), "utf8");
  for (const port of ["21656", "3545", "1060"])
    assert.match(lower, new RegExp(`^[a-z0-9-]+ = .*127.0.0.1:${port}"`, "m"));
  for (const wrong of [
    ["--port-offset", "40000"],
    ["--port-offset", "-5037"],
    ["--port-offset", "-1000", "--http-port", "2000"],
    ["--port-offset", "-"],
  ]) {
    const { code } = await run("testnet", "--output", join(folder, "far"), ...wrong);
    assert.equal(code, 2, wrong.join(" "));
  }
});

test("start.sh stops every node in order, on Ctrl-C and on SIGTERM, and ends after them", async () => {
  const program = join(folder, "fake-evmintd");
  writeFileSync(
    program,
    '#!/bin/sh\ntrap \'echo stopped >> "$3/signals"; sleep 0.2; echo ended >> "$3/signals"; exit 0\' TERM INT\necho started >> "$3/signals"\necho started >> "$STARTED"\nwhile :; do sleep 0.1; done\n',
    { mode: 0o755 },
  );
  const signalsOf = (name: string) => ifPresent(() => readFileSync(join(net, name, "signals"), "utf8")) ?? "";
  const names = ["validator-0", "validator-1", "validator-2", "node-3"];
  // Each node writes a line into it once it can be stopped.
  const fifo = join(folder, "started");
  assert.equal(spawnSync("mkfifo", [fifo]).status, 0);
  const pipe = new Socket({ fd: openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK) });
  after(() => pipe.destroy());
  const started = createInterface({ input: pipe });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    for (const name of names) rmSync(join(net, name, "signals"), { force: true });
    let lines = 0;
    const allStarted = new Promise<void>((resolve) => {
      started.on("line", () => {
        if (++lines === names.length) resolve();
      });
    });
    const script = spawn(join(net, "start.sh"), {
      env: { ...process.env, EVMINTD: program, STARTED: fifo },
      stdio: "ignore",
    });
    const exited = once(script, "exit");
    await allStarted;
    script.kill(signal);
    await exited;
    for (const name of names) assert.equal(signalsOf(name), "started\nstopped\nended\n", name);
  }
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
  assert.match(stdout, /local-net = true/);
  for (const peer of network.peers) assert.ok(stdout.includes(peer));
});

test("engine invite names addresses that the new node can reach, and leaves out those that are to be hidden", async () => {
  const invite = async (...flags: string[]) => {
    const { code, stdout, stderr } = await run("engine", "invite", "--home", validator, ...flags);
    const peers = code === 0 ? (JSON.parse(stdout) as NetworkFile).peers.map((peer) => peer.split("@")[1]) : [];
    return { code, peers, warnings: stderr.split("\n").filter((line) => line.startsWith("warning")).length };
  };
  const flag = (name: string, value: string) => [`--cometbft.${name}`, value];
  const id = (byte: string) => byte.repeat(20);
  const others = `${id("aa")}@10.0.0.7:1,${id("bb")}@node.example:2,${id("cc")}@127.0.0.1:3`;
  const wide = [...flag("local-net", "false"), ...flag("persistent-peers", others)];
  const local = flag("persistent-peers", others);
  assert.deepEqual(await invite(...local), {
    code: 0,
    peers: ["127.0.0.1:26656", "10.0.0.7:1", "node.example:2", "127.0.0.1:3"],
    warnings: 1,
  });
  const elsewhere = ["--address", "10.0.0.5"];
  assert.deepEqual(await invite(...local, ...elsewhere), {
    code: 0,
    peers: ["10.0.0.5:26656", "10.0.0.7:1", "node.example:2"],
    warnings: 1,
  });
  assert.equal((await invite(...wide)).code, 1);
  assert.equal((await invite(...wide, ...flag("p2p-address", "0.0.0.0:1"))).code, 1);
  assert.equal((await invite(...wide, ...elsewhere)).code, 1);
  assert.equal((await invite(...wide, "--address", "a b")).code, 2);
  const named = { code: 0, peers: ["validator.example:9", "node.example:2"], warnings: 1 };
  assert.deepEqual(await invite(...wide, "--address", "validator.example:9"), named);
  assert.deepEqual(await invite(...wide, ...flag("external-address", "validator.example:9")), named);
  assert.deepEqual((await invite(...wide, "--address", "2001:db8::1")).peers[0], "[2001:db8::1]:26656");
  const behindSentries = [...wide, ...flag("pex", "false")];
  assert.deepEqual((await invite(...behindSentries)).peers, ["node.example:2"]);
  assert.equal((await invite(...behindSentries, ...flag("private-peers", id("bb")))).code, 1);
});

test("init --join rejects other files and other geneses, and changes nothing", async () => {
  const file = join(folder, "other.json");
  const home = join(folder, "not-joined");
  const whole = JSON.parse((await run("engine", "invite", "--home", validator)).stdout) as NetworkFile;
  const changes = {
    genesis: whole.genesis.replace(/"timestamp": "0x./, '"timestamp": "0x1'),
    engineGenesis: whole.engineGenesis.replace(/"evmGenesis": "0x../, '"evmGenesis": "0x00'),
    chainId: "1",
    genesisHash: `0x${"00".repeat(32)}`,
    blockTimeMs: 0,
    localNet: undefined,
    allowedNodesContract: "0x1",
    peers: ["127.0.0.1:1"],
  };
  const edited = Object.entries(changes).map(([key, value]) => JSON.stringify({ ...whole, [key]: value }));
  for (const text of ["", "{}", "null", "[]", ...edited]) {
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

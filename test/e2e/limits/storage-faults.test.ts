import assert from "node:assert/strict";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { encodeSegmentHeader } from "../../../src/store/storage/log/log-segment.ts";
import { LOG_FORMAT } from "../../../src/store/storage/schema.ts";
import { overHttp } from "../../support/clients.ts";
import { runEvmintd, startEvmintd } from "../../support/evmintd.ts";
import { makeHome, transfer } from "../../support/made-chain.ts";
import { metricOf, WITH_METRICS } from "../../support/metrics.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const homes: string[] = [];
const newHome = () => {
  const home = makeHome();
  homes.push(home);
  return home;
};
after(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

const GIB = 2 ** 30;
/** Until then every client has calls that run and calls that wait. */
const BLOCKS_UNDER_LOAD = 10;

/** A home with `count` blocks, its node stopped. */
async function homeWithBlocks(count: number): Promise<string> {
  const home = newHome();
  const node = await startTestNode({ home, settings: { "consensus.block-time": "manual" } });
  for (let i = 0; i < count; i++) node.produceBlock();
  await node.stop();
  return home;
}

async function readyOf(node: TestNode) {
  const metrics = node.node.listeners.find(({ kind }) => kind === "metrics")!;
  const response = await fetch(metrics.url.replace("/metrics", "/readyz"));
  return { status: response.status, ...((await response.json()) as { ready: boolean }) };
}

test("on a full disk the blocks stop and are told to have; reads and the pool go on; with space so do the blocks", async () => {
  let free = GIB;
  const stalled = /^error operation failed where="block production" .*STORE_DISK_FULL/;
  const node = await startTestNode({
    home: newHome(),
    expectedErrors: [stalled],
    settings: { "consensus.block-time": "instant", ...WITH_METRICS },
    hooks: { freeBytes: () => free },
  });
  const send = async (nonce: bigint) =>
    (await overHttp(node.url, "eth_sendRawTransaction", [transfer(nonce)])).result as string;
  const receipt = async (hash: string) => (await overHttp(node.url, "eth_getTransactionReceipt", [hash])).result;
  const first = await send(0n);
  await node.untilBlock(1);

  free = 1_000_000;
  const second = await send(1n);
  await node.untilLogged(stalled);
  assert.equal(await metricOf(node, "blocks_stalled"), 1);
  assert.equal(await receipt(second), null);
  assert.notEqual(await receipt(first), null);
  assert.equal((await overHttp(node.url, "txpool_status")).result instanceof Object, true);
  const { status, ready } = await readyOf(node);
  assert.deepEqual([status, ready], [503, false]);

  free = GIB;
  await node.untilLogged(/block production resumed/);
  assert.notEqual(await receipt(second), null);
  assert.equal((await readyOf(node)).status, 200);
  await node.stop();
});

test("a failure of the store that may not be tried again ends the node, and the next start has all that was told of", async () => {
  const home = newHome();
  let isBroken = false;
  const node = await startTestNode({
    home,
    settings: { "consensus.block-time": "instant" },
    hooks: {
      failPoint(name) {
        if (isBroken && name === "append:commit") throw new Error("input/output error");
      },
    },
  });
  await overHttp(node.url, "eth_sendRawTransaction", [transfer(0n)]);
  await node.untilBlock(1);
  const first = await overHttp(node.url, "eth_getBlockByNumber", ["latest", false]);
  isBroken = true;
  const { result: hash } = await overHttp(node.url, "eth_sendRawTransaction", [transfer(1n)]);
  await node.node.failure;
  assert.equal((await overHttp(node.url, "eth_blockNumber")).result, "0x1");
  await node.stop();
  const again = await startTestNode({ home, settings: { "consensus.block-time": "manual" } });
  assert.equal((await overHttp(again.url, "eth_blockNumber")).result, "0x1");
  assert.deepEqual(await overHttp(again.url, "eth_getBlockByNumber", ["latest", false]), first);
  again.produceBlock();
  const receipt = await overHttp(again.url, "eth_getTransactionReceipt", [hash]);
  assert.equal((receipt.result as { blockNumber: string }).blockNumber, "0x2");
  await again.stop();
});

test("SIGTERM under load: exit code 0, and no block that was told of is lost", async () => {
  const home = newHome();
  const { child, url, exited, output } = await startEvmintd(home, ["--consensus.block-time", "instant"]);
  const target = `0x${"aa".repeat(20)}`;
  const loop = [{ to: target }, "latest", { [target]: { code: "0x5b600056" } }];
  let isStopped = false;
  let seen = 0;
  let begin = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const load = Array.from({ length: 8 }, async (_, client) => {
    for (let nonce = 0n; !isStopped; nonce++) {
      try {
        if (client > 0) await overHttp(url, "eth_call", loop);
        else {
          await overHttp(url, "eth_sendRawTransaction", [transfer(nonce)]);
          const { result } = await overHttp(url, "eth_blockNumber");
          seen = Math.max(seen, Number(result));
          if (seen >= BLOCKS_UNDER_LOAD) begin();
        }
      } catch {
        // The node is gone.
      }
    }
  });
  await hasBegun;
  child.kill("SIGTERM");
  const code = await exited;
  isStopped = true;
  await Promise.all(load);
  assert.equal(code, 0, output.stderr);
  const { stdout } = await runEvmintd(["db", "check", "--home", home]);
  const { head, faults } = JSON.parse(stdout);
  assert.deepEqual(faults, []);
  assert.ok(head >= seen, `block ${seen} was told of, ${head} is the last`);
});

test("a second process on a home is refused, names the first, and leaves it alone", async () => {
  const home = newHome();
  const first = await startEvmintd(home);
  for (const args of [["start"], ["export", "/nonexistent/file"], ["db", "check"], ["reindex"]]) {
    const { code, stderr } = await runEvmintd([...args, "--home", home]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, new RegExp(`process ${first.child.pid} holds`));
  }
  assert.equal((await overHttp(first.url, "eth_chainId")).result, "0x2328");
  first.child.kill("SIGKILL");
  await first.exited;
  const next = await startEvmintd(home);
  next.child.kill("SIGTERM");
  assert.equal(await next.exited, 0);
});

test("a taken port ends the start with 1, says which, and lets go of the home", async () => {
  const home = newHome();
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const address = `127.0.0.1:${(taken.address() as { port: number }).port}`;
  for (const key of ["json-rpc.address", "json-rpc.ws-address", "metrics.address"]) {
    const { code, stderr } = await runEvmintd([
      "start",
      "--home",
      home,
      "--json-rpc.enable",
      "true",
      "--metrics.enable",
      "true",
      ...["json-rpc.address", "json-rpc.ws-address", "metrics.address"].flatMap((each) => [
        `--${each}`,
        each === key ? address : "127.0.0.1:0",
      ]),
    ]);
    assert.equal(code, 1, stderr);
    assert.ok(stderr.includes(address), stderr);
    assert.equal((await runEvmintd(["db", "check", "--home", home])).code, 0);
  }
  taken.close();
});

test("damaged settings and genesis files are refused by name, with the place", async () => {
  const home = await homeWithBlocks(2);
  const refused = async (file: string, text: string, code: number, message: RegExp) => {
    const path = join(home, file);
    let before: string | undefined;
    try {
      before = readFileSync(path, "utf8");
    } catch {}
    writeFileSync(path, text);
    const result = await runEvmintd(["start", "--home", home]);
    assert.equal(result.code, code, `${file}: ${result.stderr}`);
    assert.match(result.stderr, message, text);
    assert.equal(result.stderr.trim().split("\n").length, 1, result.stderr);
    if (before === undefined) rmSync(path);
    else writeFileSync(path, before);
  };
  await refused("config/app.toml", "[json-rpc\nenable = true", 2, /app\.toml/);
  await refused("config/app.toml", "\u0000\u0001\u0002", 2, /app\.toml/);
  await refused("config/app.toml", '[json-rpc]\ngas-cap = "much"', 2, /json-rpc\.gas-cap/);
  await refused("config/genesis.json", "", 1, /genesis/);
  await refused("config/genesis.json", '{"config":{"chainId":', 1, /genesis/);
  await refused("config/genesis.json", "[]", 1, /genesis/);
  await refused("config/genesis.json", '{"config":{"chainId":1},"alloc":{"xyz":{}}}', 1, /genesis|alloc|address/);
  const other = makeHome(1_700_000_001);
  homes.push(other);
  const genesis = readFileSync(join(other, "config/genesis.json"), "utf8");
  await refused("config/genesis.json", genesis, 1, /belongs to genesis 0x[0-9a-f]{64}/);
  assert.equal((await runEvmintd(["db", "check", "--home", home])).code, 0);
});

test("a log that is damaged in the middle is not served: exit code 1, the position is named", async () => {
  const home = await homeWithBlocks(50);
  const log = join(home, "data/log/0000000000000000.log");
  const bytes = readFileSync(log);
  bytes[bytes.length >> 1]! ^= 0x10;
  writeFileSync(log, bytes);
  // With an index that is whole nothing reads the old records; check does, and so does a start without one.
  const checked = await runEvmintd(["db", "check", "--home", home]);
  assert.equal(checked.code, 1, checked.stderr);
  assert.match(checked.stdout + checked.stderr, /\d{3,}/);
  rmSync(join(home, "data/index"), { recursive: true });
  const { code, stderr } = await runEvmintd(["start", "--home", home]);
  assert.equal(code, 1, stderr);
  const position = Number(/damaged at position (\d+)/.exec(stderr)?.[1]);
  assert.ok(position > 0 && position <= bytes.length >> 1, stderr);
  assert.deepEqual(readFileSync(log), bytes, "the damaged log is left as it is");
});

test("data of a newer format is refused with both numbers, and left as it is", async () => {
  const home = await homeWithBlocks(3);
  const log = join(home, "data/log/0000000000000000.log");
  const bytes = readFileSync(log);
  const salt = bytes.readUInt32LE(16);
  const header = encodeSegmentHeader({ format: LOG_FORMAT + 1, base: 0, salt });
  const newer = Buffer.concat([header, bytes.subarray(header.length)]);
  writeFileSync(log, newer);
  const { code, stderr } = await runEvmintd(["start", "--home", home]);
  assert.equal(code, 1, stderr);
  assert.match(stderr, new RegExp(`format ${LOG_FORMAT + 1}, this program knows ${LOG_FORMAT}`));
  writeFileSync(log, bytes);
  const again = await runEvmintd(["db", "check", "--home", home]);
  assert.equal(again.code, 0, again.stderr);
});

test("a home that cannot be written to is refused", {
  skip: process.getuid?.() === 0 && "root may write everywhere",
}, async () => {
  const home = await homeWithBlocks(1);
  chmodSync(join(home, "data"), 0o500);
  const { code, stderr } = await runEvmintd(["start", "--home", home]);
  chmodSync(join(home, "data"), 0o700);
  assert.equal(code, 1, stderr);
  assert.match(stderr, /EACCES/);
});

test("a dead process's half-written lock and socket files do not stop the next start", async () => {
  const home = await homeWithBlocks(1);
  writeFileSync(join(home, "data/lock"), '{"pid":1,"sta');
  writeFileSync(join(home, "evmint.ipc"), "");
  const node = await startEvmintd(home);
  node.child.kill("SIGTERM");
  assert.equal(await node.exited, 0);
});

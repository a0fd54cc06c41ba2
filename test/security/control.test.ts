import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Wallet } from "ethers";
import { setInAppToml } from "../../src/node/config/app-toml.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { bearer, openWs, overHttp, overIpc, overWs } from "../support/clients.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import type { TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

/** `miner`, `admin` and `db` on a running node, over the socket file of its owner. */

let node: TestNode;
before(async () => {
  node = await startConfiguredNode();
});
after(() => node.stop());

const call = (method: string, ...params: unknown[]) => overIpc(node.ipcPath, method, params);
const wallet = new Wallet(DEV_KEYS[0]);

async function rawTransfer(of: TestNode, gasPrice: bigint): Promise<string> {
  const count = await overIpc(of.ipcPath, "eth_getTransactionCount", [wallet.address, "pending"]);
  return wallet.signTransaction({
    type: 0,
    chainId: 9000,
    to: DEV_ADDRESSES[1],
    gasLimit: 21_000,
    gasPrice,
    nonce: Number(count.result),
  });
}

test("miner: what cannot be supported is refused or does nothing, as the service says", async () => {
  assert.equal((await call("miner_getHashrate")).result, 0);
  assert.equal((await call("miner_stop")).result, null);
  assert.equal((await call("miner_setGasLimit", "0x10000")).result, false);
  for (const [method, param] of [
    ["miner_setExtra", "hi"],
    ["miner_start", "0x1"],
  ] as const) {
    const message = `unsupported rpc function: ${method}`;
    assert.deepEqual((await call(method, param)).error, { code: -32000, message });
  }
});

test("miner_setEtherbase changes the reward account of the next block, and survives a restart", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-etherbase-"));
  const etherbase = "0x3b7252d007059ffc82d16d022da3cbf9992d2f70";
  try {
    let running = await startConfiguredNode({ home });
    const set = await overIpc(running.ipcPath, "miner_setEtherbase", [etherbase]);
    assert.equal(set.result, true);
    running.produceBlock();
    const block = await overHttp(running.url, "eth_getBlockByNumber", ["latest", false]);
    assert.equal((block.result as { miner: string }).miner, etherbase);
    assert.equal((await overHttp(running.url, "eth_coinbase")).result, etherbase);
    const zero = await overIpc(running.ipcPath, "miner_setEtherbase", [`0x${"00".repeat(20)}`]);
    assert.equal(zero.error?.code, -32000);
    await running.stop();
    running = await startConfiguredNode({ home });
    assert.equal((await overHttp(running.url, "eth_coinbase")).result, etherbase);
    running.produceBlock();
    const next = await overHttp(running.url, "eth_getBlockByNumber", ["latest", false]);
    assert.equal((next.result as { miner: string }).miner, etherbase);
    await running.stop();
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("miner_setGasPrice edits app.toml, is in force after a restart, and loses to the flag", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-gas-price-"));
  const file = join(home, "config/app.toml");
  const written = '# mine\nminimum-gas-prices = "1gwei" # old\n\n[log]\n# less\nlevel = "warn"\n';
  const cheap = 2n * 10n ** 9n;
  try {
    mkdirSync(join(home, "config"));
    writeFileSync(file, written);
    let running = await startConfiguredNode({ home });
    const set = await overIpc(running.ipcPath, "miner_setGasPrice", ["0x4a817c800"]);
    assert.equal(set.result, true);
    assert.equal(readFileSync(file, "utf8"), setInAppToml(written, "minimum-gas-prices", '"20gwei"'));
    for (const kept of ["# mine", "# less", 'level = "warn"']) {
      assert.ok(readFileSync(file, "utf8").includes(kept));
    }
    // Not yet: the price is still above the old minimum.
    const before = await rawTransfer(running, cheap);
    assert.ok((await overHttp(running.url, "eth_sendRawTransaction", [before])).result);
    await running.stop();

    running = await startConfiguredNode({ home });
    const raw = await rawTransfer(running, cheap);
    const refused = await overHttp(running.url, "eth_sendRawTransaction", [raw]);
    assert.match(refused.error?.message ?? "", /underpriced|below minimum/);
    const dear = await rawTransfer(running, 25n * 10n ** 9n);
    assert.ok((await overHttp(running.url, "eth_sendRawTransaction", [dear])).result);
    await running.stop();

    running = await startConfiguredNode({ home, settings: { "minimum-gas-prices": "1gwei" } });
    await overIpc(running.ipcPath, "miner_setGasPrice", ["0x4a817c800"]);
    const again = await rawTransfer(running, cheap);
    assert.ok((await overHttp(running.url, "eth_sendRawTransaction", [again])).result);
    await running.stop();
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("admin_nodeInfo has a lasting identity and the chain; admin_peers none; admin_datadir the home", async () => {
  type Info = { id: string; enode: string; enr: string; protocols: { eth: { genesis: string } } };
  const info = (await call("admin_nodeInfo")).result as Info;
  assert.match(info.id, /^[0-9a-f]{64}$/);
  assert.match(info.enode, /^enode:\/\/[0-9a-f]{128}@127\.0\.0\.1:0$/);
  assert.match(info.enr, /^enr:[A-Za-z0-9_-]+$/);
  const genesis = await overHttp(node.url, "eth_getBlockByNumber", ["0x0", false]);
  assert.equal(info.protocols.eth.genesis, (genesis.result as { hash: string }).hash);
  assert.equal(((await call("admin_nodeInfo")).result as Info).enode, info.enode);
  assert.deepEqual((await call("admin_peers")).result, []);
  assert.equal((await call("admin_datadir")).result, node.home);
});

for (const name of ["addPeer", "removePeer", "addTrustedPeer", "removeTrustedPeer"]) {
  const method = `admin_${name}`;
  test(`${method} reads the URL and then says that there is no network`, async () => {
    const id = "ab".repeat(20);
    for (const url of [`enode://${id.padEnd(128, "0")}@127.0.0.1:30303`, `${id}@localhost:1`]) {
      assert.equal((await call(method, url)).error?.code, -32000);
    }
    const isRemoval = name.startsWith("remove");
    assert.equal((await call(method, id)).error?.code, isRemoval ? -32000 : -32602);
    for (const url of ["http://x", "enode://x@1", "enode://127.0.0.1:1", "nonsense"]) {
      const { error } = await call(method, url);
      assert.equal(error?.code, -32602, url);
      assert.match(error?.message ?? "", /^invalid enode: /);
    }
  });
}

test("admin_stopRPC over HTTP answers first and closes then; admin_startRPC opens again", async () => {
  const running = await startConfiguredNode();
  const admin = (method: string, ...params: unknown[]) => overIpc(running.ipcPath, method, params);
  try {
    const { port } = new URL(running.url);
    assert.equal((await admin("admin_startRPC")).error?.message, "JSON-RPC over HTTP is already enabled");
    assert.equal(
      (await admin("admin_startRPC", "127.0.0.1", 1)).error?.message,
      `HTTP server already running on 127.0.0.1:${port}`,
    );
    const headers = { ...bearer(running.home), connection: "close" };
    const stopped = await overHttp(running.url, "admin_stopRPC", [], headers);
    assert.equal(stopped.result, true);
    await assert.rejects(overHttp(running.url, "eth_chainId"), { code: "ECONNREFUSED" });
    assert.equal((await admin("admin_stopHTTP")).result, true);

    const apis = "eth, net";
    const started = await admin("admin_startRPC", "127.0.0.1", Number(port), "*", apis, "*");
    assert.equal(started.result, true);
    assert.equal((await overHttp(running.url, "eth_chainId")).result, "0x2328");
    assert.equal((await overHttp(running.url, "web3_clientVersion")).error?.code, -32601);
    const anywhere = { origin: "https://any.example", host: "any.example" };
    assert.equal((await overHttp(running.url, "eth_chainId", [], anywhere)).result, "0x2328");
  } finally {
    await running.stop();
  }
});

test("admin_stopWS ends WebSocket on both ports; admin_startWS brings it back", async () => {
  const running = await startConfiguredNode();
  const admin = (method: string, ...params: unknown[]) => overIpc(running.ipcPath, method, params);
  try {
    const open = await openWs(running.wsUrl);
    const closed = new Promise<number>((resolve) => open.once("close", resolve));
    assert.equal((await admin("admin_stopWS")).result, true);
    assert.equal(await closed, 1001);
    await assert.rejects(openWs(running.wsUrl), /ECONNREFUSED/);
    await assert.rejects(openWs(running.url), /404/);
    assert.equal((await overHttp(running.url, "eth_chainId")).result, "0x2328");
    const { port } = new URL(running.wsUrl);
    assert.equal((await admin("admin_startWS", "127.0.0.1", `0x${Number(port).toString(16)}`)).result, true);
    assert.equal((await overWs(running.wsUrl, "eth_chainId")).result, "0x2328");
    assert.equal((await overWs(running.url, "eth_chainId")).result, "0x2328");
    const again = await admin("admin_startWS");
    assert.equal(again.error?.message, "JSON-RPC over WebSocket is already enabled");
  } finally {
    await running.stop();
  }
});

test("admin_startRPC does not open unlocked accounts to others, or listen where it cannot", async () => {
  const running = await startConfiguredNode();
  const admin = (method: string, ...params: unknown[]) => overIpc(running.ipcPath, method, params);
  try {
    await admin("admin_stopRPC");
    await admin("personal_importRawKey", DEV_KEYS[0], "pw");
    await admin("personal_unlockAccount", DEV_ADDRESSES[0], "pw", 0);
    assert.equal((await admin("admin_startRPC", "0.0.0.0", 0)).error?.code, -32000);
    await admin("personal_lockAccount", DEV_ADDRESSES[0]);
    assert.equal((await admin("admin_startRPC", "0.0.0.0", 0)).result, true);
    const { error } = await admin("personal_unlockAccount", DEV_ADDRESSES[0], "pw");
    assert.match(error?.message ?? "", /forbidden/);
    await admin("admin_stopRPC");
    const taken = Number(new URL(running.wsUrl).port);
    const busy = await admin("admin_startRPC", "127.0.0.1", taken);
    assert.deepEqual(busy.error?.code, -32000);
    assert.equal((await admin("admin_startRPC", "127.0.0.1", 65_536)).error?.code, -32602);
  } finally {
    await running.stop();
  }
});

test("admin_exportChain and admin_importChain carry a chain to another node of the same genesis", async () => {
  for (let i = 0; i < 5; i++) node.produceBlock();
  for (const name of ["all.rlp", "all.rlp.gz", "deep/er/all.rlp"]) {
    assert.equal((await call("admin_exportChain", name)).result, true, name);
    assert.ok(existsSync(join(node.home, "debug", name)));
  }
  assert.equal((await call("admin_exportChain", "some.rlp", 1, "0x3")).result, true);
  const overwrite = await call("admin_exportChain", "all.rlp");
  assert.equal(overwrite.error?.message, "location would overwrite an existing file");
  const half = await call("admin_exportChain", "x.rlp", null, 3);
  assert.equal(half.error?.message, "last cannot be specified without first");
  assert.equal((await call("admin_exportChain", "x.rlp", 1, 10_000)).error?.code, -32000);

  const other = await startConfiguredNode();
  try {
    mkdirSync(join(other.home, "debug"));
    for (const name of ["some.rlp", "all.rlp.gz"]) {
      writeFileSync(join(other.home, "debug", name), readFileSync(join(node.home, "debug", name)));
      const imported = await overIpc(other.ipcPath, "admin_importChain", [name]);
      assert.equal(imported.result, true, imported.error?.message);
    }
    const [mine, theirs] = await Promise.all(
      [node, other].map(
        async ({ url }) =>
          (await overHttp(url, "eth_getBlockByNumber", ["latest", false])).result as {
            hash: string;
          },
      ),
    );
    assert.equal(theirs!.hash, mine!.hash);
    // The engine goes on afterwards.
    const raw = await rawTransfer(other, 3n * 10n ** 9n);
    const sent = await overHttp(other.url, "eth_sendRawTransaction", [raw]);
    assert.ok(sent.result, sent.error?.message);
    const receiptOf = async () =>
      (await overHttp(other.url, "eth_getTransactionReceipt", [sent.result])).result as {
        status: string;
      } | null;
    await until(async () => (await receiptOf()) !== null, "the receipt");
    assert.equal((await receiptOf())?.status, "0x1");
  } finally {
    await other.stop();
  }
});

test("file names do not lead out of the debug folder", async () => {
  const outside = mkdtempSync(join(tmpdir(), "evmint-outside-"));
  try {
    mkdirSync(join(node.home, "debug"), { recursive: true });
    symlinkSync(outside, join(node.home, "debug", "link"));
    writeFileSync(join(outside, "real.rlp"), "");
    symlinkSync(join(outside, "real.rlp"), join(node.home, "debug", "file-link.rlp"));
    for (const name of [
      join(outside, "x.rlp"),
      "../x.rlp",
      "a/../../x.rlp",
      "~/x.rlp",
      "link/x.rlp",
      "link/deep/x.rlp",
      "",
      "a\0b",
      "..",
    ]) {
      const { error } = await call("admin_exportChain", name);
      assert.equal(error?.code, -32000, JSON.stringify(name));
    }
    for (const name of ["../config/genesis.json", "/etc/passwd", "link/real.rlp", "file-link.rlp", "none"]) {
      assert.equal((await call("admin_importChain", name)).error?.code, -32000, name);
    }
    assert.deepEqual(existsSync(join(outside, "x.rlp")), false);
    assert.deepEqual(existsSync(join(outside, "deep")), false);
  } finally {
    rmSync(outside, { recursive: true });
  }
});

test("db keeps texts and bytes in one place, over a restart, within its limits", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-db-"));
  const limits = {
    dappDb: {
      nameBytesMax: 8,
      keyBytesMax: 8,
      valueBytesMax: 16,
      databaseBytesMax: 40,
      databasesMax: 2,
    },
  };
  try {
    let running = await startConfiguredNode({ home, limits });
    const db = (method: string, ...params: unknown[]) => overIpc(running.ipcPath, method, params);
    const missing = await db("db_getString", "testDB", "myKey");
    assert.deepEqual(missing.error, { code: -32000, message: "leveldb: not found" });
    assert.equal(existsSync(join(home, "data/dapp-db")), false);

    assert.equal((await db("db_putString", "testDB", "myKey", "myString")).result, true);
    assert.equal((await db("db_getString", "testDB", "myKey")).result, "myString");
    assert.equal((await db("db_getHex", "testDB", "myKey")).result, "0x6d79537472696e67");
    assert.equal((await db("db_putHex", "testDB", "hex", "0xff6869")).result, true);
    assert.equal((await db("db_getString", "testDB", "hex")).result, "\ufffdhi");
    assert.equal((await db("db_putHex", "testDB", "hex", "0xabc")).error?.code, -32602);
    assert.equal((await db("db_putString", "", "a", "b")).error?.message, "Database cannot be blank");
    assert.equal((await db("db_getHex", "a", "")).error?.message, "Key cannot be blank");
    // Two pairs that run together to the same text.
    assert.equal((await db("db_putString", "testDBm", "yKey", "other")).result, true);
    assert.equal((await db("db_getString", "testDB", "myKey")).result, "myString");

    for (const [name, key, value] of [
      ["longer-than-8", "k", "v"],
      ["testDB", "longer-than-8", "v"],
      ["testDB", "k", "x".repeat(17)],
      ["third", "k", "v"],
    ]) {
      assert.equal((await db("db_putString", name, key, value)).result, false, name);
    }
    assert.equal((await db("db_putString", "testDB", "k", "x".repeat(16))).result, true);
    assert.equal((await db("db_putString", "testDB", "j", "x".repeat(16))).result, false);
    // Replaced, it gives its room back.
    assert.equal((await db("db_putString", "testDB", "k", "")).result, true);
    assert.equal((await db("db_putString", "testDB", "j", "x".repeat(14))).result, true);
    // Reading is open, writing is not.
    assert.equal((await overHttp(running.url, "db_getString", ["testDB", "myKey"])).result, "myString");
    const params = ["testDB", "k", "v"];
    assert.equal((await overHttp(running.url, "db_putString", params)).status, 401);
    await running.stop();

    running = await startConfiguredNode({ home, limits });
    assert.equal((await db("db_getString", "testDB", "myKey")).result, "myString");
    assert.equal((await db("db_putString", "third", "k", "v")).result, false);
    await running.stop();
  } finally {
    rmSync(home, { recursive: true });
  }
});

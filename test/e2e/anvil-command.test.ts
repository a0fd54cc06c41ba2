/** `evmintd anvil` beside anvil itself: the same flags, the same chain for whoever asks it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { foundryBinary } from "../../bench/support/peers.ts";
import { deploymentOf } from "../support/assembler.ts";
import { runEvmintd, spawnEvmintd } from "../support/evmintd.ts";
import { freePort } from "../support/free-port.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";

const anvil = foundryBinary("anvil");
const skip = anvil === undefined && "anvil is not installed";

type Started = { readonly url: string; readonly banner: string; readonly stop: () => Promise<number | string> };

/** Once it prints where it listens, as scripts wait for it. */
async function started(
  port: number,
  process: { child: ReturnType<typeof spawn>; exited: Promise<number | string> },
): Promise<Started> {
  const { child, exited } = process;
  let banner = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      banner += text;
      if (banner.includes(`Listening on 127.0.0.1:${port}`)) resolve();
    });
    void exited.then((code) => reject(new Error(`ended with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    banner,
    stop() {
      child.kill("SIGINT");
      return exited;
    },
  };
}

async function startEvmint(args: readonly string[]): Promise<Started> {
  const port = await freePort();
  return started(port, spawnEvmintd(["anvil", "--port", `${port}`, ...args]));
}

async function startAnvil(args: readonly string[]): Promise<Started> {
  const port = await freePort();
  const child = spawn(anvil!, ["--port", `${port}`, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  return started(port, { child, exited });
}

/** Both, stopped after the test, whose exit codes after SIGINT are then known to be the same. */
async function startBoth(args: readonly string[], context: TestContext): Promise<readonly [Started, Started]> {
  const nodes = await Promise.all([startEvmint(args), startAnvil(args)]);
  context.after(async () => {
    const codes = await Promise.all(nodes.map((node) => node.stop()));
    assert.equal(codes[0], codes[1]);
  });
  return nodes as [Started, Started];
}

type Json = Record<string, unknown>;

async function rpc<T = unknown>({ url }: Started, method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = (await callHttp(url, method, params)) as { result?: T; error?: { message: string } };
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result!;
}

const SHOWN = [
  "number",
  "gasLimit",
  "baseFeePerGas",
  "miner",
  "difficulty",
  "extraData",
  "parentHash",
  "withdrawals",
  "blobGasUsed",
  "excessBlobGas",
];

/** What a caller can see of a chain that began with these flags. */
async function observe(node: Started, { isTimed = false } = {}): Promise<Json> {
  const accounts = await rpc<string[]>(node, "eth_accounts");
  const block = await rpc<Json>(node, "eth_getBlockByNumber", "0x0", true);
  const methods = [
    "eth_chainId",
    "net_version",
    "eth_blockNumber",
    "eth_gasPrice",
    "eth_maxPriorityFeePerGas",
    "eth_syncing",
    "anvil_getAutomine",
    "anvil_getIntervalMining",
  ];
  return {
    accounts,
    balances: await Promise.all(accounts.map((account) => rpc(node, "eth_getBalance", account, "latest"))),
    block: Object.fromEntries([...SHOWN, ...(isTimed ? ["timestamp"] : [])].map((name) => [name, block[name]])),
    deployer: await rpc(node, "eth_getCode", "0x4e59b44847b379578588920ca78fbf26c0b4956c", "latest"),
    // Not there unless somebody deploys it.
    multicall: await rpc(node, "eth_getCode", "0xca11bde05977b3631167028862be2a173976ca11", "latest"),
    ...Object.fromEntries(await Promise.all(methods.map(async (method) => [method, await rpc(node, method)]))),
  };
}

/** A transfer, and what became of it; where blocks come by themselves, once it is in one. */
async function transfer(node: Started, more: Json = {}): Promise<Json> {
  const [from] = await rpc<string[]>(node, "eth_accounts");
  const to = "0x00000000000000000000000000000000000000aa";
  const hash = await rpc<string>(node, "eth_sendTransaction", { from, to, value: "0x1", ...more });
  const isMined = await rpc<boolean>(node, "anvil_getAutomine");
  let receipt: Json | null;
  do receipt = await rpc<Json | null>(node, "eth_getTransactionReceipt", hash);
  while (isMined && receipt === null);
  const { status, blockNumber, gasUsed, effectiveGasPrice, type } = receipt ?? {};
  return { status, blockNumber, gasUsed, effectiveGasPrice, type };
}

test("evmintd anvil is anvil to who asks: accounts, fees, block 0 and blocks without flags", {
  skip,
}, async (context) => {
  const [ours, theirs] = await startBoth([], context);
  assert.deepEqual(await observe(ours), await observe(theirs));
  assert.deepEqual(await transfer(ours), await transfer(theirs));
  // From the accounts on, where anvil has its logo before them.
  const shown = ({ banner }: Started) =>
    banner
      .slice(banner.indexOf("Available Accounts"))
      .replace(/(Genesis Timestamp\n=+\n\n)\d+/, "$1")
      .replace(/Listening on .*/, "");
  assert.equal(shown(ours), shown(theirs));
});

test("evmintd anvil begins with the accounts, numbers and rules of its flags", { skip }, async (context) => {
  const file = join(tmpdir(), `evmint-anvil-${process.pid}.json`);
  context.after(() => rmSync(file, { force: true }));
  const args = [
    "-a",
    "3",
    "--balance",
    "7",
    "--chain-id",
    "1337",
    "--timestamp",
    "1700000000",
    "--base-fee",
    "5000000000",
    "--gas-limit",
    "12345678",
    "--hardfork",
    "prague",
    "--mnemonic-seed-unsafe",
    "7",
    "--derivation-path",
    "m/44'/60'/1'/0",
  ];
  const theirs = await startAnvil([...args, "--config-out", file]);
  const theirFile = JSON.parse(readFileSync(file, "utf8")) as Json;
  const ours = await startEvmint([...args, "--config-out", file]);
  context.after(() => Promise.all([ours.stop(), theirs.stop()]));
  assert.deepEqual(await observe(ours, { isTimed: true }), await observe(theirs, { isTimed: true }));
  assert.deepEqual(await transfer(ours), await transfer(theirs));
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), theirFile);
});

test("evmintd anvil makes no block with --no-mining, takes every sender and large contracts where its flags say so", {
  skip,
}, async (context) => {
  const args = [
    "--no-mining",
    "--auto-impersonate",
    "--disable-code-size-limit",
    "--disable-block-gas-limit",
    "--order",
    "fifo",
  ];
  const [ours, theirs] = await startBoth(args, context);
  const seen = async (node: Started) => {
    const sender = "0x00000000000000000000000000000000000000bb";
    await rpc(node, "anvil_setBalance", sender, "0x8ac7230489e80000");
    const [from] = await rpc<string[]>(node, "eth_accounts");
    const pending = await transfer(node, { from: sender });
    const code = deploymentOf(`0x${"00".repeat(40_000)}`);
    const created = await rpc<string>(node, "eth_sendTransaction", { from, data: code, gas: "0x1c9c380" });
    await rpc(node, "anvil_mine");
    const { status, transactionIndex } = await rpc<Json>(node, "eth_getTransactionReceipt", created);
    const balance = await rpc(node, "eth_getBalance", "0x00000000000000000000000000000000000000aa", "latest");
    const { transactionOrder } = await rpc<Json>(node, "anvil_nodeInfo");
    return { pending, status, transactionIndex, balance, transactionOrder, head: await rpc(node, "eth_blockNumber") };
  };
  assert.deepEqual(await seen(ours), await seen(theirs));
});

test("evmintd anvil writes nothing to standard error while all is well", async () => {
  const port = await freePort();
  const { child, output, exited } = spawnEvmintd(["anvil", "--port", `${port}`]);
  const node = await started(port, { child, exited });
  await rpc(node, "evm_mine");
  assert.equal(await node.stop(), 0);
  assert.equal(output.stderr, "");
  assert.match(output.stdout, /^block 1 {2}empty$/m);
});

test("evmintd anvil ends with code 2 for wrong flags, 1 where it cannot start, and prints anvil's version", async () => {
  const wrong = await runEvmintd(["anvil", "--nope"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^error: unexpected argument '--nope' found/);
  const phrase = await runEvmintd(["anvil", "--mnemonic", "a b", "--port", "0"]);
  assert.equal(phrase.code, 1);
  assert.match(phrase.stderr, /^Error: /);
  assert.equal(phrase.stdout, "");
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const second = await runEvmintd(["anvil", "--port", String(port)]);
  taken.close();
  assert.equal(second.code, 1);
  assert.match(second.stderr, /^Error: listen EADDRINUSE.*\n$/);
  assert.equal(second.stdout, "");
  const version = await runEvmintd(["anvil", "--version"]);
  assert.equal(version.code, 0);
  assert.match(version.stdout, /^anvil Version: \d+\.\d+\.\d+\n/);
});

/** The status of a call with these headers. */
function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
  return new Promise((resolve, reject) => {
    request(url, { method: "POST", headers: { "content-type": "application/json", ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .once("error", reject)
      .end(body);
  });
}

test("evmintd anvil serves no method that keeps keys, shows the process or reads files: every page may call it", async (context) => {
  const node = await startEvmint([]);
  context.after(() => node.stop());
  const { methods } = await rpc<{ methods: { name: string }[] }>(node, "rpc_discover");
  const names = methods.map(({ name }) => name);
  // As anvil.
  assert.deepEqual(
    names.filter((name) => name.startsWith("personal_")),
    ["personal_sign"],
  );
  const process =
    /File|Profile|goTrace|GoTrace|Stats|stacks|Memory|freeze|set[A-Z]|chaindb|verbosity|vmodule|backtrace/;
  assert.deepEqual(
    names.filter((name) => name.startsWith("debug_") && process.test(name)),
    [],
  );
  assert.ok(names.includes("debug_traceTransaction") && names.includes("debug_traceCall"));
  for (const method of ["personal_newAccount", "personal_importRawKey", "debug_stacks", "debug_memStats"]) {
    const { error } = (await callHttp(node.url, method, [])) as { error?: { code: number } };
    assert.equal(error?.code, -32601, method);
  }
});

test("evmintd anvil has the rules of Amsterdam by name, and where it forks a chain that has them", async (context) => {
  const remote = await startEvmint(["--hardfork", "Amsterdam"]);
  context.after(() => remote.stop());
  const fork = await startEvmint(["--fork-url", remote.url]);
  context.after(() => fork.stop());
  for (const { url } of [remote, fork]) {
    await callHttp(url, "evm_mine");
    const { result } = await callHttp(url, "eth_getBlockByNumber", ["latest", false]);
    assert.equal(result.slotNumber, result.number);
    assert.equal((await callHttp(url, "anvil_nodeInfo")).result.hardFork, "Amsterdam");
  }
});

test("evmintd anvil has anvil's hardfork, with nine blobs a block, and no methods for bundles of calls", async (context) => {
  const node = await startEvmint([]);
  context.after(() => node.stop());
  const { current } = await rpc<{ current: { blobSchedule: { target: number; max: number } } }>(node, "eth_config");
  assert.deepEqual([current.blobSchedule.target, current.blobSchedule.max], [6, 9]);
  for (const method of ["wallet_sendCalls", "wallet_getCallsStatus", "wallet_getCapabilities"]) {
    const { error } = (await callHttp(node.url, method, [])) as { error?: { code: number } };
    assert.equal(error?.code, -32601, method);
  }
});

test("evmintd anvil with --allow-origin looks at the Host too, and without it at neither", async (context) => {
  const [some, none, all] = await Promise.all([
    startEvmint(["--allow-origin", "https://a.example"]),
    startEvmint(["--no-cors"]),
    startEvmint([]),
  ]);
  context.after(() => Promise.all([some.stop(), none.stop(), all.stop()]));
  const rebound = { host: "rebound.example" };
  assert.equal(await statusOf(none.url, rebound), 403);
  const foreign = { origin: "https://b.example" };
  assert.deepEqual([await statusOf(some.url, rebound), await statusOf(all.url, rebound)], [403, 200]);
  assert.deepEqual([await statusOf(some.url, foreign), await statusOf(all.url, foreign)], [403, 200]);
  assert.equal(await statusOf(some.url, { origin: "https://a.example" }), 200);
});

test("evmintd anvil on an address that is not loopback says that others can reach it", async (context) => {
  const port = await freePort();
  const { child, output, exited } = spawnEvmintd(["anvil", "--host", "0.0.0.0", "--port", `${port}`]);
  await new Promise<void>((resolve) => {
    child.stdout!.on("data", () => output.stdout.includes(`Listening on 0.0.0.0:${port}`) && resolve());
  });
  context.after(() => {
    child.kill("SIGINT");
    return exited;
  });
  assert.match(
    output.stdout,
    /json-rpc\.address listens on 0\.0\.0\.0:\d+: other machines can reach this node, which has unlocked accounts/,
  );
});

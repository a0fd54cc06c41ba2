import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { runConsole } from "../../src/cli/console/console.ts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { runEvmintd, startEvmintd } from "../support/evmintd.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";

const [OWNER, FRIEND] = DEV_ADDRESSES;
let node: TestNode;

before(async () => {
  node = await startTestNode({ dev: true, settings: ONE_PROCESS });
});
after(() => node.stop());

type Options = Partial<Parameters<typeof runConsole>[0]> & { readonly lines?: string };

async function consoleOutput({ lines = "", ...options }: Options): Promise<string> {
  const output = new PassThrough();
  const [printed] = await Promise.all([
    text(output),
    runConsole({
      target: node.ipcPath,
      token: undefined,
      exec: undefined,
      preload: undefined,
      historyPath: join(node.home, "console-history"),
      input: new PassThrough().end(lines) as PassThrough,
      output,
      ...options,
    }).finally(() => output.end()),
  ]);
  return printed;
}

const exec = async (code: string, options: Options = {}) => (await consoleOutput({ exec: code, ...options })).trim();

/** Everyday tasks in one line or a few, with what they print. */
const TASKS: Readonly<Record<string, readonly [code: string, printed: RegExp]>> = {
  "the chain id": ["eth.chainId()", /^31337$/],
  "a balance in ether": [`formatEther(await eth.getBalance("${DEV_ADDRESSES[2]}"))`, /^10000$/],
  "a transfer and its receipt": [
    `const hash = await eth.sendTransaction({ from: "${OWNER}", to: "${FRIEND}", value: parseEther("1") });
     return (await publicClient.waitForTransactionReceipt({ hash })).status`,
    /^success$/,
  ],
  "a contract deployed and read": [
    `const account = privateKeyToAccount("${DEV_KEYS[0]}");
     const abi = ${JSON.stringify(contract("Token").abi)};
     const hash = await walletClient.deployContract({ account, abi, bytecode: "${contract("Token").bytecode}", args: [77n] });
     const { contractAddress: address } = await publicClient.waitForTransactionReceipt({ hash });
     return publicClient.readContract({ address, abi, functionName: "balanceOf", args: [account.address] })`,
    /^77$/,
  ],
  "the newest logs": [`(await eth.getLogs({ fromBlock: 0 })).length`, /^\d+$/],
  "a trace of the newest transaction": [
    `const { transactions } = await eth.getBlockByNumber("latest", false);
     return (await debug.traceTransaction(transactions[0], { tracer: "callTracer" })).type`,
    /^(CALL|CREATE)$/,
  ],
  "ten empty blocks": [
    `const before = await eth.blockNumber(); await testClient.mine({ blocks: 10 }); return (await eth.blockNumber()) - before`,
    /^10$/,
  ],
  "a gas estimate": [`eth.estimateGas({ from: "${OWNER}", to: "${FRIEND}", value: 1 })`, /^21000$/],
  "what waits in the pool": ["txpool.status()", /"pending": "0x0"/],
  "the node itself, which only its owner may ask": ["(await admin.nodeInfo()).name", /^Evmint/],
};

for (const [task, [code, printed]] of Object.entries(TASKS)) {
  test(`a script gives ${task}`, async () => {
    assert.match(await exec(code), printed);
  });
}

test("a script works over HTTP and WebSocket", async () => {
  for (const target of [node.url, node.wsUrl]) {
    assert.equal(await exec("eth.chainId()", { target }), "31337");
  }
});

test("evmintd attach sends the token that it is given, and makes none for a program that listens at the address of its home", async (context) => {
  const home = join(node.home, "with-token");
  await runEvmintd(["init", "--home", home]);
  const own = await startEvmintd(home, ["--json-rpc.api", "all", "--ipc.path", ""]);
  context.after(() => own.child.kill());
  const settings = ["--ipc.path", "", "--json-rpc.address", own.url.replace("http://", "")];
  const script = ["--home", home, ...settings, "--exec", "(await admin.nodeInfo()).name"];
  for (const target of [[], [own.url]]) {
    const without = await runEvmintd(["attach", ...target, ...script]);
    assert.deepEqual([without.code, without.stdout], [1, ""]);
  }
  const { stdout: token } = await runEvmintd(["token", "--home", home]);
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const byFile = await runEvmintd(["attach", "--token-file", tokenFile, ...script]);
  assert.match(byFile.stdout, /^Evmint/);
  const byArgument = await runEvmintd(["attach", own.url, "--token", token.trim(), ...script]);
  assert.equal(byArgument.stdout, byFile.stdout);
  assert.notEqual(byArgument.stderr, "");
});

test("events arrive over WebSocket and IPC until they are stopped, and HTTP says that it has none", async () => {
  const code = `
    const numbers = [];
    let haveArrived;
    const two = new Promise((resolve) => { haveArrived = resolve; });
    const stop = await watch("newHeads", ({ number }) => numbers.push(number) === 2 && haveArrived());
    await testClient.mine({ blocks: 2 });
    await two;
    return (await stop()) && numbers.length`;
  assert.equal(await exec(code), "2");
  assert.equal(await exec(code, { target: node.wsUrl }), "2");
  await assert.rejects(exec(code, { target: node.url }), { code: "CONSOLE_CONNECTION" });
});

test("a preloaded file defines names for the script and for the prompt", async () => {
  const preload = join(node.home, "names.js");
  writeFileSync(preload, `const friend = "${FRIEND}"; function twice(n) { return 2n * n; }`);
  assert.equal(await exec("twice(21n)", { preload }), "42");
  const printed = await consoleOutput({ preload, lines: "friend\n" });
  assert.ok(printed.includes(`'${FRIEND}'`));
});

test("the prompt prints results in the order of the lines, signatures, and errors without ending", async () => {
  const lines = "eth.chainId()\nlet x = 123456780n\nx + 1n\nnope()\neth.getBalance\nhelp(net)\n.exit\nx + 2n\n";
  const printed = await consoleOutput({ lines });
  const found = ["31337n", "123456781n", "nope is not defined", "eth.getBalance(account: address", "net.peerCount()"];
  const places = found.map((each) => printed.indexOf(each));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.ok(!places.includes(-1), printed);
  assert.ok(!printed.includes("123456782n"));
});

const CLEAR_LINE = "\x15";

test("a terminal completes the names of a namespace", async () => {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  let printed = "";
  const isPrinted = async (text: string) => {
    for await (const chunk of output.iterator({ destroyOnReturn: false })) {
      printed += chunk;
      if (printed.includes(text)) break;
    }
    printed = "";
  };
  const historyPath = join(node.home, "completion-history");
  const options = { token: undefined, exec: undefined, preload: undefined, historyPath };
  const ended = runConsole({ target: node.ipcPath, ...options, input, output });
  await isPrinted("> ");
  input.write("eth.getBlockRec\t");
  await isPrinted("eipts");
  input.write(CLEAR_LINE);
  input.write(".exit\r");
  output.resume();
  await ended;
});

test("a node that is not there, and a script that throws", async () => {
  await assert.rejects(exec("1", { target: "http://127.0.0.1:1" }), { code: "CONSOLE_CONNECTION" });
  await assert.rejects(exec("1", { target: join(node.home, "none.ipc") }), {
    code: "CONSOLE_CONNECTION",
  });
  await assert.rejects(exec("1 +"), SyntaxError);
  await assert.rejects(exec("nope"), { name: "ReferenceError" });
});

test("evmintd attach --exec prints the value, and its exit code says how it went", async () => {
  const attach = (...args: string[]) => runEvmintd(["attach", "--home", node.home, ...args]);
  assert.deepEqual(await attach("--exec", "eth.chainId()"), {
    code: 0,
    stdout: "31337\n",
    stderr: "",
  });
  const failed = await attach("--exec", "nope");
  assert.deepEqual([failed.code, failed.stdout], [1, ""]);
  assert.match(failed.stderr, /nope is not defined/);
});

test("evmintd console runs a node for one script and stops it", async () => {
  const home = join(node.home, "other");
  const { code, stdout } = await runEvmintd([
    "console",
    "--dev",
    "--home",
    home,
    "--json-rpc.address",
    "127.0.0.1:0",
    "--json-rpc.ws-address",
    "127.0.0.1:0",
    "--exec",
    "eth.blockNumber()",
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /\n0\n$/);
});

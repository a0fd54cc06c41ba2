import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { encodeAbiParameters } from "viem";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { overHttp, overIpc } from "../support/clients.ts";
import { type Evmintd, spawnEvmintd, startEvmintd } from "../support/evmintd.ts";
import { until } from "../support/until.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
/** Reverts with Error("no"): PUSH and MSTORE of the ABI encoding, REVERT. */
const REVERTS_NO =
  "0x7f08c379a000000000000000000000000000000000000000000000000000000000600052602060045260026024527f6e6f00000000000000000000000000000000000000000000000000000000000060445260646000fd";
const PRINTER = "0x00000000000000000000000000000000000000aa";
/** Calls the console of Hardhat and forge-std with its own input. */
const PRINTER_CODE = "0x36600060003760006000366000" + "73000000000000000000636f6e736f6c652e6c6f67" + "5afa00";
/** `log(string)` */
const LOG = "0x41304fac";

const folder = mkdtempSync(join(tmpdir(), "evmint-dev-log-"));
after(() => rmSync(folder, { recursive: true }));

/** Ends with the test, however that ends. */
function endWith(t: TestContext, node: Evmintd): void {
  t.after(() => node.child.kill("SIGKILL"));
}

async function stop(node: Evmintd): Promise<void> {
  node.child.kill("SIGTERM");
  assert.equal(await node.exited, 0);
}

/** Resolves once the log has `text`. @throws when the node ends before */
function written(node: Evmintd, text: string | RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    void node.exited.then(() => reject(new Error(`no ${text} in ${node.output.stderr}`)));
    const isThere = () =>
      typeof text === "string" ? node.output.stderr.includes(text) : text.test(node.output.stderr);
    const look = () => {
      if (!isThere()) return;
      node.child.stderr!.off("data", look);
      resolve();
    };
    node.child.stderr!.on("data", look);
    look();
  });
}

test("a dev chain whose log is piped shows calls, blocks, reverts and prints, for people and without control characters", async (t) => {
  const node = await startEvmintd(join(folder, "piped"), ["--dev"]);
  endWith(t, node);
  const call = (method: string, ...params: unknown[]) => overHttp(node.url, method, params);
  await Promise.all(Array.from({ length: 14 }, () => call("eth_blockNumber")));
  await written(node, "eth_blockNumber ");
  await call("eth_getBlance", ALICE, "latest");
  await call("eth_getBalance", ALICE, "0xfffff");
  await call("eth_sendTransaction", { from: PRINTER, to: BOB, value: "0x1" });
  await call("eth_call", { from: ALICE, data: REVERTS_NO });
  await call("eth_\u001b[31mred\u202e\nblock 99");
  const transfer = await call("eth_sendTransaction", { from: ALICE, to: BOB, value: "0x14d1120d7b160000" });
  await written(node, "block 1 ");
  const reverted = await call("eth_sendTransaction", { from: ALICE, data: REVERTS_NO, gas: "0x100000" });
  await written(node, "block 2 ");
  await call("anvil_setCode", PRINTER, PRINTER_CODE);
  const data = `${LOG}${encodeAbiParameters([{ type: "string" }], ["seen\u001b[2J\u202e"]).slice(2)}`;
  await call("eth_sendTransaction", { from: ALICE, to: PRINTER, data, gas: "0x100000" });
  await call("eth_sendTransaction", { from: ALICE, to: BOB, nonce: "0x64" });
  await call("anvil_mine", "0x5");
  // One line, or more where the machine is slow.
  await written(node, /^block(?:s \d to)? 8 {2}(?:\d )?empty$/m);
  await stop(node);
  const log = node.output.stderr;
  const counts = [...log.matchAll(/^eth_blockNumber(?: ×(\d+))? → 0x0 {2}/gm)].map(([, count = "1"]) => Number(count));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    14,
  );
  assert.ok(counts.length < 10, `${counts.length} lines`);
  assert.match(log, /^eth_getBlance ✗ no such method, did you mean eth_getBalance\? /m);
  assert.match(log, /^eth_getBalance ✗ header not found \(block 1048575, the newest is 0\) /m);
  assert.match(log, /^eth_sendTransaction account 1 ✗ unknown account \(0x0{38}aa; the node signs for 10 accounts /m);
  assert.match(log, /^eth_call new contract ✗ execution reverted: no /m);
  assert.ok(log.includes("\neth_\\u001b[31mred\\u202e\\u000ablock 99 ✗ no such method"));
  const shown = log.slice(log.indexOf("block 1 "), log.indexOf("block 2 ")).split("\n");
  assert.equal(shown[1], `  transaction ${transfer.result}`);
  assert.match(
    shown.join("\n"),
    /^ {4}from {5}0xf39F\w{36} \(account 0\) nonce 0\n {4}to {7}0x7099\w{36} \(account 1\)$/m,
  );
  assert.match(
    shown.join("\n"),
    /^ {4}value {4}1\.5 ETH\n {4}gas {6}21,000 of \S+ \(.*%\), fee .*\n {4}status {3}success$/m,
  );
  const failed = log.slice(log.indexOf(`  transaction ${reverted.result}`));
  assert.match(failed, /^ {4}status {3}failed: execution reverted: no$/m);
  assert.match(failed, /^ {4}console {2}seen\\u001b\[2J\\u202e$/m);
  assert.match(log, /^eth_sendTransaction account 1 → 0x\w{64} queued: its nonce is 100, the account's next one 3 /m);
  assert.doesNotMatch(log, /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
});

test("--quiet prints nothing while all is well, and log.format json one object a line", async (t) => {
  const home = join(folder, "quiet");
  const quiet = spawnEvmintd(["start", "--dev", "-q", "--home", home, "--port", "0"]);
  endWith(t, quiet);
  // Its port is printed nowhere.
  const call = (method: string, params: unknown[] = []) => overIpc(join(home, "evmint.ipc"), method, params);
  const isOpen = () => call("eth_getBlance").then(Boolean, () => false);
  await until(() => {
    assert.equal(quiet.child.exitCode, null, quiet.output.stderr);
    return isOpen();
  }, "an answer of the quiet node");
  await call("eth_sendTransaction", [{ from: ALICE, to: BOB }]);
  await stop(quiet);
  assert.deepEqual(quiet.output, { stdout: "", stderr: "" });

  const json = await startEvmintd(join(folder, "json"), ["--dev", "--log.format", "json"]);
  endWith(t, json);
  await overHttp(json.url, "eth_sendTransaction", [{ from: ALICE, to: BOB }]);
  await written(json, '"message":"transaction"');
  await stop(json);
  for (const line of json.output.stderr.trim().split("\n")) assert.equal(typeof JSON.parse(line).message, "string");
});

test("a log whose reader is gone does not end the node", async (t) => {
  const node = await startEvmintd(join(folder, "closed"), ["--dev"]);
  endWith(t, node);
  node.child.stderr!.destroy();
  for (let i = 0; i < 3; i++) {
    await overHttp(node.url, "eth_getBlance");
    await overHttp(node.url, "eth_sendTransaction", [{ from: ALICE, to: BOB }]);
  }
  assert.equal((await overHttp(node.url, "eth_getTransactionCount", [ALICE, "pending"])).result, "0x3");
  await stop(node);
});

test("calls that an RPC process serves are in the log of the chain's", async (t) => {
  const node = await startEvmintd(join(folder, "processes"), ["--dev", "--json-rpc.processes", "1"]);
  endWith(t, node);
  while (!/^web3_clientVersion/m.test(node.output.stderr)) {
    await overHttp(node.url, "web3_clientVersion");
    await overHttp(node.url, "eth_getBlance");
    await new Promise(setImmediate);
  }
  await written(node, "eth_getBlance ✗ no such method, did you mean eth_getBalance?");
  await stop(node);
});

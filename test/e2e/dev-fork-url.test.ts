/** `anvil_setRpcUrl`: a fork goes on with another node of the chain that it continues. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { overHttp } from "../support/clients.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";

/** A caller that meets what the remote chain answers gets an error; the log has it for the operator. */
const REMOTE_ERRORS = /(?:call|operation) failed .*FORK_/;

const folder = mkdtempSync(join(tmpdir(), "evmint-fork-url-"));
const home = join(folder, "fork");
/** The remote chain has a balance for each, of so many wei as its last digit. */
const ACCOUNTS = [1, 2, 3].map((n) => `0x${"00".repeat(18)}ab0${n}`);

type Remote = Awaited<ReturnType<typeof startEvmintd>>;
/** Two nodes of one chain, each in a process of its own, because the forked node waits for them. */
let first: Remote;
let second: Remote;
let node: TestNode;

async function startRemote(name: string): Promise<Remote> {
  return startEvmintd(join(folder, name), ["--dev", "--chain-id", "777", "--json-rpc.processes", "0"]);
}

async function kill({ child, exited }: Remote): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

const ask = (url: string, method: string, ...params: unknown[]) => overHttp(url, method, params);
const balanceOf = async (account: string | undefined) =>
  Number((await ask(node.url, "eth_getBalance", account, "latest")).result);
const setUrl = (url: string) => ask(node.url, "anvil_setRpcUrl", url);
const start = (settings = {}) =>
  startTestNode({
    dev: true,
    home,
    settings: { ...ONE_PROCESS, ...settings },
    possibleErrors: [REMOTE_ERRORS],
  });

before(async () => {
  first = await startRemote("first");
  for (const [i, account] of ACCOUNTS.entries()) {
    const { error } = await ask(first.url, "anvil_setBalance", account, `0x${i + 1}`);
    assert.equal(error, undefined);
  }
  await ask(first.url, "evm_mine");
  await kill(first);
  const filter = (path: string) => !path.endsWith(".ipc");
  cpSync(join(folder, "first"), join(folder, "second"), { recursive: true, filter });
  [first, second] = await Promise.all([startRemote("first"), startRemote("second")]);
  node = await start({ "dev.fork-url": first.url });
});
after(async () => {
  await node?.stop();
  await kill(second);
  rmSync(folder, { recursive: true, force: true });
});

test("another node of the same chain takes over, also after a restart", async () => {
  assert.equal(await balanceOf(ACCOUNTS[0]), 1);
  assert.equal((await setUrl(second.url)).result, null);
  await kill(first);
  assert.equal(await balanceOf(ACCOUNTS[1]), 2);
  const { result } = await ask(node.url, "anvil_nodeInfo");
  assert.equal((result as { forkConfig: { forkUrl: string } }).forkConfig.forkUrl, second.url);
  await node.stop();
  node = await start();
  assert.equal(await balanceOf(ACCOUNTS[2]), 3);
});

test("a node of another chain, one that does not answer and text that is no address are rejected, and change nothing", async (context) => {
  const other = await startTestNode({ dev: true, settings: ONE_PROCESS });
  context.after(() => other.stop());
  assert.equal((await setUrl(other.url)).error?.code, -32000);
  assert.equal((await setUrl("http://127.0.0.1:1")).error?.code, -32000);
  assert.equal((await setUrl("nowhere")).error?.code, -32602);
  assert.equal(await balanceOf(`0x${"00".repeat(18)}ab04`), 0);
  // One that forks nothing has no node to ask.
  assert.equal((await ask(other.url, "anvil_setRpcUrl", second.url)).error?.code, -32000);
});

test("a fork with --chain-id has that chain id, in a home also after a restart and a reset", async (context) => {
  const own = join(folder, "own-id");
  const begin = (settings = {}) => startTestNode({ dev: true, home: own, settings: { ...ONE_PROCESS, ...settings } });
  let forked = await begin({ "dev.fork-url": second.url, "chain-id": "31337" });
  context.after(() => forked.stop());
  const idOf = async () => Number((await ask(forked.url, "eth_chainId")).result);
  assert.equal(await idOf(), 31_337);
  const { result } = await ask(forked.url, "eth_accounts");
  const [from, to] = result as string[];
  const hash = (await ask(forked.url, "eth_sendTransaction", { from, to, value: "0x1" })).result;
  const sent = (await ask(forked.url, "eth_getTransactionByHash", hash)).result as { chainId: string };
  assert.equal(Number(sent.chainId), 31_337);
  await forked.stop();
  await assert.rejects(begin({ "chain-id": "777" }), { code: "CONFIG_INVALID", details: { key: "chain-id" } });
  forked = await begin();
  assert.equal(await idOf(), 31_337);
  assert.equal((await ask(forked.url, "anvil_reset", { forking: { jsonRpcUrl: second.url } })).error, undefined);
  assert.equal(await idOf(), 31_337);
});

test("a fork block that the other chain does not have yet is named as it was typed, with the newest one", async () => {
  const settings = { ...ONE_PROCESS, "dev.fork-url": second.url, "fork-block": "9999" };
  const newest = Number((await ask(second.url, "eth_blockNumber")).result);
  await assert.rejects(startTestNode({ dev: true, settings }), {
    code: "FORK_REMOTE_FAILED",
    message: `the remote chain has no block 9999: its newest is ${newest}`,
  });
});

test("anvil_reset takes what it forks without the member forking, too", async (context) => {
  const own = await startTestNode({ dev: true, settings: ONE_PROCESS });
  context.after(() => own.stop());
  assert.equal((await ask(own.url, "anvil_reset", { jsonRpcUrl: second.url, blockNumber: 1 })).error, undefined);
  const { result } = await ask(own.url, "anvil_nodeInfo");
  assert.equal((result as { forkConfig: { forkBlockNumber: number } }).forkConfig.forkBlockNumber, 1);
});

/**
 * A dev chain that continues another one: a node of this project, and anvil where it is installed. The remote chain runs in a process of its
 * own, because the forked node waits for it.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { foundryBinary, startAnvil } from "../../bench/support/peers.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { createNode } from "../../src/index.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { openChain } from "../../src/node/roles/chain/open-chain.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { assemble, deploymentOf } from "../support/assembler.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { overHttp } from "../support/clients.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";

/** A caller that meets what the remote chain answers gets an error; the log has it for the operator. */
const REMOTE_ERRORS = /(?:call|operation) failed .*FORK_/;

const [ALICE, BOB] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000beef1";
const TOPIC = `0x${"77".repeat(32)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
/** With a word: stores it in slot 0 and logs it. Without: returns slot 0. */
const STORE = assemble(`
  CALLDATASIZE PUSH1 0f JUMPI
  PUSH1 00 SLOAD PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
  JUMPDEST PUSH1 00 CALLDATALOAD DUP1 PUSH1 00 SSTORE PUSH1 00 MSTORE
  PUSH32 ${TOPIC} PUSH1 20 PUSH1 00 LOG1 STOP
`);

type Receipt = {
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly contractAddress: string;
  readonly transactionHash: string;
};
type Remote = { readonly url: string; stop(): void | Promise<void> };

async function call<T = string>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await overHttp(url, method, params);
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result as T;
}

async function send(url: string, tx: Readonly<Record<string, string>>): Promise<Receipt> {
  const hash = await call(url, "eth_sendTransaction", { from: ALICE, gas: "0x30d40", ...tx });
  for (;;) {
    const receipt = await call<Receipt | null>(url, "eth_getTransactionReceipt", hash);
    if (receipt !== null) return receipt;
  }
}

async function startOwn(): Promise<Remote> {
  const home = mkdtempSync(join(tmpdir(), "evmint-remote-"));
  const { url, child, exited } = await startEvmintd(home, ["--dev"]);
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function startOther(): Promise<Remote> {
  const peer = (await startAnvil())!;
  return { url: `http://127.0.0.1:${peer.port}`, stop: () => peer.stop() };
}

const remotes: readonly (readonly [string, () => Promise<Remote>])[] = [
  ["a node of this project", startOwn],
  ...(foundryBinary("anvil") === undefined ? [] : ([["anvil", startOther]] as const)),
];

for (const [name, startRemote] of remotes) {
  describe(`a fork of ${name}`, () => {
    const home = mkdtempSync(join(tmpdir(), "evmint-fork-"));
    let remote: Remote;
    let node: TestNode;
    let forked: number;
    let deployed: Receipt;
    let stored: Receipt;

    const start = (settings: Readonly<Record<string, string>>) =>
      startTestNode({
        dev: true,
        home,
        settings: { ...ONE_PROCESS, ...settings },
        possibleErrors: [REMOTE_ERRORS],
      });
    const read = (to: string, block: string) => call(node.url, "eth_call", { to, data: "0x" }, block);

    before(async () => {
      remote = await startRemote();
      deployed = await send(remote.url, { data: deploymentOf(STORE) });
      stored = await send(remote.url, { to: deployed.contractAddress, data: word(7) });
      await send(remote.url, { to: STRANGER, value: "0x1234" });
      forked = Number(await call(remote.url, "eth_blockNumber"));
      // Nobody listens at the first address.
      node = await start({ "dev.fork-url": `http://127.0.0.1:1,${remote.url}` });
      // What happens there afterwards is not part of the fork.
      await send(remote.url, { to: deployed.contractAddress, data: word(9) });
      await send(remote.url, { to: STRANGER, value: "0x1" });
    });
    after(async () => {
      await node?.stop();
      await remote?.stop();
      rmSync(home, { recursive: true, force: true });
    });

    test("has the remote chain's id, head, balances, code, slots and calls", async () => {
      const { url } = node;
      const contract = deployed.contractAddress;
      assert.equal(await call(url, "eth_chainId"), await call(remote.url, "eth_chainId"));
      assert.equal(Number(await call(url, "eth_blockNumber")), forked);
      assert.equal(await call(url, "eth_getBalance", STRANGER, "latest"), "0x1234");
      assert.equal(await call(url, "eth_getCode", contract, "latest"), STORE);
      assert.equal(await call(url, "eth_getStorageAt", contract, "0x0", "latest"), word(7));
      assert.equal(await read(contract, "latest"), word(7));
      const at = `0x${forked.toString(16)}`;
      const nonce = await call(remote.url, "eth_getTransactionCount", ALICE, at);
      assert.equal(await call(url, "eth_getTransactionCount", ALICE, "latest"), nonce);
    });

    test("answers old blocks, transactions, receipts and states as the remote chain does, later ones not at all", async () => {
      const at = `0x${forked.toString(16)}`;
      const later = `0x${(forked + 1).toString(16)}`;
      const { transactionHash, blockHash } = stored;
      for (const [method, ...params] of [
        ["eth_getBlockByNumber", at, true],
        ["eth_getBlockByNumber", "earliest", false],
        ["eth_getBlockByHash", blockHash, true],
        ["eth_getBlockReceipts", stored.blockNumber],
        ["eth_getTransactionByHash", transactionHash],
        ["eth_getTransactionReceipt", transactionHash],
        ["eth_getBalance", ALICE, deployed.blockNumber],
        ["eth_getStorageAt", deployed.contractAddress, "0x0", deployed.blockNumber],
        ["eth_call", { to: deployed.contractAddress }, deployed.blockNumber],
      ] as const) {
        const [ours, theirs] = await Promise.all(
          [node.url, remote.url].map((url) => call<unknown>(url, method, ...params)),
        );
        assert.deepEqual(ours, theirs, method);
      }
      const newest = await call<Record<string, unknown>>(node.url, "eth_getBlockByNumber", "latest", false);
      assert.equal(newest["number"], at);
      assert.equal((newest["transactions"] as unknown[]).length, 1);
      const block = await call<Record<string, unknown>>(remote.url, "eth_getBlockByNumber", later, false);
      const [hash] = block["transactions"] as string[];
      assert.equal(await call<unknown>(node.url, "eth_getTransactionReceipt", hash), null);
      assert.equal(await call<unknown>(node.url, "eth_getBlockByHash", block["hash"], false), null);
      assert.equal(await call<unknown>(node.url, "eth_getBlockByNumber", later, false), null);
    });

    test("forwards traces and raw forms of the remote chain; what nobody can answer is an error", async () => {
      const { transactionHash, blockNumber, blockHash } = stored;
      const later = await call<{ transactions: string[] }>(remote.url, "eth_getBlockByNumber", "latest", false);
      let forwarded = 0;
      for (const [method, ...params] of [
        ["eth_getHeaderByNumber", blockNumber],
        ["eth_getRawTransactionByHash", transactionHash],
        ["debug_getRawBlock", blockNumber],
        ["debug_traceTransaction", transactionHash, { tracer: "callTracer" }],
        ["debug_traceBlockByHash", blockHash, { tracer: "callTracer" }],
        ["trace_block", blockNumber],
        ["trace_transaction", transactionHash],
        ["trace_replayTransaction", transactionHash, ["trace"]],
        ["ots_getBlockDetails", blockNumber],
        ["ots_getTransactionError", transactionHash],
        ["ots_traceTransaction", transactionHash],
        ["ots_hasCode", deployed.contractAddress, deployed.blockNumber],
      ] as const) {
        const theirs = await overHttp(remote.url, method, [...params]);
        const ours = await overHttp(node.url, method, [...params]);
        // A method that the remote node lacks is an error here too.
        assert.deepEqual(ours.result, theirs.result, method);
        assert.equal(ours.error === undefined, theirs.error === undefined, method);
        if (theirs.error === undefined) forwarded++;
      }
      assert.ok(forwarded >= 8, `${forwarded} were answered`);
      // Of a block after the fork: it does not exist here.
      const [hash] = later.transactions;
      assert.ok((await overHttp(node.url, "debug_traceTransaction", [hash, {}])).error);
      assert.equal(await call(node.url, "eth_getRawTransactionByHash", hash), "0x");
      for (const [method, ...params] of [
        ["ots_searchTransactionsBefore", ALICE, 0, 25],
        ["debug_dumpBlock", "latest"],
        ["erigon_getBlockByTimestamp", "0x1", false],
        ["eth_callMany", [{ transactions: [] }], { blockNumber: "0x0" }],
      ] as const) {
        assert.equal((await overHttp(node.url, method, [...params])).error?.code, -32000, method);
      }
    });

    test("continues with blocks of its own: state, history and logs over the fork", async () => {
      const { url } = node;
      const contract = deployed.contractAddress;
      const before = await call(url, "eth_getBlockByNumber", `0x${forked.toString(16)}`, false);
      const changed = await send(url, { to: contract, data: word(0) });
      assert.equal(Number(changed.blockNumber), forked + 1);
      const child = await call<Record<string, string>>(url, "eth_getBlockByNumber", "latest", false);
      assert.equal(child["parentHash"], (before as unknown as Record<string, string>)["hash"]);
      for (const [method, block] of [
        ["debug_executionWitness", "latest"],
        ["debug_executionWitnessByHash", child["hash"]],
      ] as const) {
        const { error } = await overHttp(url, method, [block]);
        assert.equal(error?.message, "no node can prove the state of a fork", method);
      }
      const fees = await call<Record<string, unknown>>(url, "eth_feeHistory", "0x5", "latest", [50]);
      assert.equal(Number(fees["oldestBlock"]), forked + 1);
      // Deleted here, 7 there.
      assert.equal(await read(contract, "latest"), word(0));
      assert.equal(await read(contract, `0x${forked.toString(16)}`), word(7));
      assert.equal(await read(contract, deployed.blockNumber), word(0));
      await send(url, { to: STRANGER, value: "0x1" });
      assert.equal(await call(url, "eth_getBalance", STRANGER, "latest"), "0x1235");
      const logs = await call<Record<string, string>[]>(url, "eth_getLogs", {
        address: contract,
        topics: [TOPIC],
        fromBlock: "earliest",
        toBlock: "latest",
      });
      const filter = { address: contract, topics: [TOPIC], fromBlock: "earliest" };
      const id = await call(url, "eth_newFilter", filter);
      assert.deepEqual(await call<unknown>(url, "eth_getFilterLogs", id), logs);
      assert.ok((await call<unknown[]>(url, "trace_block", "latest")).length > 0);
      const over = { fromBlock: stored.blockNumber, toBlock: "latest" };
      assert.equal((await overHttp(url, "trace_filter", [over])).error?.code, -32000);
      assert.deepEqual(
        logs.map(({ blockNumber, data }) => [Number(blockNumber), data]),
        [
          [Number(stored.blockNumber), word(7)],
          [forked + 1, word(0)],
        ],
      );
    });

    test("a contract of this chain alone reads one of the remote chain", async () => {
      const { contractAddress } = await send(node.url, {
        data: deploymentOf(
          assemble(`
            PUSH1 20 PUSH1 00 PUSH1 00 PUSH1 00 PUSH20 ${deployed.contractAddress} GAS STATICCALL
            PUSH1 20 PUSH1 00 RETURN
          `),
        ),
      });
      const request = { to: contractAddress, data: "0x01020304" };
      const readThrough = () => call(node.url, "eth_call", request, "latest");
      assert.equal(await readThrough(), await read(deployed.contractAddress, "latest"));
      for (const value of [word(11), word(0)]) {
        await send(node.url, { to: deployed.contractAddress, data: value });
        assert.equal(await readThrough(), value);
      }
    });

    test("snapshots, state by hand and a reset work over the fork", async () => {
      const { url } = node;
      const contract = deployed.contractAddress;
      const id = await call(url, "evm_snapshot");
      await call(url, "anvil_setStorageAt", contract, "0x0", word(5));
      await call(url, "anvil_setBalance", BOB, "0x10");
      assert.equal(await read(contract, "latest"), word(5));
      await call(url, "evm_mine");
      assert.equal(await call(url, "eth_getBalance", BOB, "latest"), "0x10");
      assert.equal(await call<boolean>(url, "evm_revert", id), true);
      assert.equal(await read(contract, "latest"), word(0));
      await call(url, "anvil_reset", { forking: { blockNumber: forked } });
      assert.equal(Number(await call(url, "eth_blockNumber")), forked);
      assert.equal(await read(contract, "latest"), word(7));
      assert.equal(await call(url, "eth_getBalance", STRANGER, "latest"), "0x1234");
    });

    test("createNode forks an older block in process, with proofs", async () => {
      const { url } = remote;
      const blockNumber = Number(deployed.blockNumber);
      const inProcess = await createNode({ fork: { url, blockNumber, verify: "on" } });
      try {
        const request = (method: string, ...params: unknown[]) => inProcess.provider.request({ method, params });
        assert.equal(Number(await request("eth_blockNumber")), blockNumber);
        const slot = [deployed.contractAddress, "0x0", "latest"];
        assert.equal(await request("eth_getStorageAt", ...slot), word(0));
        assert.equal(await request("eth_getTransactionReceipt", stored.transactionHash), null);
      } finally {
        await inProcess.stop();
      }
    });

    test("when the remote chain dies, and after a restart without it, what was read is there; what was not is an error", async () => {
      await send(node.url, { to: deployed.contractAddress, data: word(3) });
      await remote.stop();
      const unread = `0x${"98".repeat(20)}`;
      const failed = await overHttp(node.url, "eth_getBalance", [unread, "latest"]);
      assert.equal(failed.error?.code, -32000);
      assert.equal(await read(deployed.contractAddress, "latest"), word(3));
      await node.stop();
      // Commands on files know nothing of the remote chain.
      const { config } = loadConfig({ home, dev: true, flags: {}, environment: {} });
      assert.throws(() => openChain(config, { log: STRICT_LOGGER, timers: fatalTimers }), { code: "FORK_UNSUPPORTED" });
      node = await start({});
      assert.equal(Number(await call(node.url, "eth_blockNumber")), forked + 1);
      assert.equal(await read(deployed.contractAddress, "latest"), word(3));
      assert.equal(await read(deployed.contractAddress, `0x${forked.toString(16)}`), word(7));
      const { error } = await overHttp(node.url, "eth_getBalance", [unread, "latest"]);
      assert.equal(error?.code, -32000);
      // Reads nothing that is not known.
      const next = await send(node.url, { to: deployed.contractAddress, data: word(4) });
      assert.equal(Number(next.blockNumber), forked + 2);
    });
  });
}

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { after, before, test } from "node:test";
import {
  type BaseContract,
  Contract,
  type Log as EthersLog,
  type InterfaceAbi,
  JsonRpcProvider,
  WebSocketProvider,
} from "ethers";
import type { Log, Transport } from "viem";
import { foundryBinary } from "../../bench/support/peers.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { metricOf, WITH_METRICS } from "../support/metrics.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";
import { patientHttp, patientWebSocket, viemClients } from "../support/viem-clients.ts";

const token = contract("Token");
const castBinary = foundryBinary("cast");
let node: TestNode;
let tokenAddress: `0x${string}`;

before(async () => {
  node = await startTestNode({ dev: true, settings: WITH_METRICS });
  const { reader, wallet } = clients();
  const hash = await wallet.deployContract({ ...token, args: [10n ** 9n] });
  tokenAddress = (await reader.waitForTransactionReceipt({ hash })).contractAddress!;
});
after(() => node.stop());

const clients = (transport: Transport = patientHttp(node.url)) => viemClients(node, transport, patientHttp(node.url));

/** Sends `count` transfers of 1, 2, … tokens, one block each; their hashes. */
async function transfers(count: number): Promise<`0x${string}`[]> {
  const { reader, wallet } = clients();
  const at = { address: tokenAddress, abi: token.abi, functionName: "transfer" } as const;
  const hashes: `0x${string}`[] = [];
  for (let i = 1; i <= count; i++) {
    const hash = await wallet.writeContract({ ...at, args: [DEV_ADDRESSES[1], BigInt(i)] });
    await reader.waitForTransactionReceipt({ hash });
    hashes.push(hash);
  }
  return hashes;
}

const answersTo = (method: string) => metricOf(node, "rpc_request_duration_seconds_count", `method="${method}"`);

/** Runs `begin` and waits until the node has answered as many more calls of each method: from then on its events are told. */
async function subscribed(calls: Readonly<Record<string, number>>, begin: () => unknown): Promise<void> {
  for (const [method, count] of Object.entries(calls))
    calls = { ...calls, [method]: count + (await answersTo(method)) };
  await begin();
  for (const [method, count] of Object.entries(calls)) {
    await until(async () => (await answersTo(method)) >= count, `answers to ${method}`);
  }
}

/** viem goes on trying to connect for ever otherwise. */
async function closeSocket(reader: { readonly transport: object }): Promise<void> {
  const { getRpcClient } = reader.transport as {
    getRpcClient?: () => Promise<{ close(): void }>;
  };
  (await getRpcClient?.())?.close();
}

for (const kind of ["http", "webSocket"] as const) {
  test(`ethers contract.on over ${kind} hears every transfer once`, async () => {
    const provider =
      kind === "http"
        ? new JsonRpcProvider(node.url, undefined, { cacheTimeout: -1, pollingInterval: 20 })
        : new WebSocketProvider(node.wsUrl, undefined, { cacheTimeout: -1 });
    try {
      const events = new Contract(tokenAddress, token.abi as unknown as InterfaceAbi, provider) as BaseContract;
      const heard: string[] = [];
      const blocks: number[] = [];
      await subscribed(kind === "http" ? { eth_newFilter: 1 } : { eth_subscribe: 2 }, async () => {
        await events.on("Transfer", (_from, _to, _value, { log }) => heard.push(log.transactionHash));
        await provider.on("block", (number) => blocks.push(number));
      });
      const sent = await transfers(3);
      await until(() => heard.includes(sent.at(-1)!) && blocks.length >= 1, "the last transfer");
      assert.deepEqual(heard, sent);
      const past = await events.queryFilter("Transfer", 0, "latest");
      assert.deepEqual(
        past.slice(-3).map(({ transactionHash }) => transactionHash),
        sent,
      );
    } finally {
      // A poll that is cancelled begins to listen to blocks again, and would hold this process.
      provider.pause(true);
      await provider.destroy();
    }
  });

  test(`viem watchContractEvent, watchBlocks and watchPendingTransactions over ${kind}`, async (context) => {
    const { reader } = clients(kind === "http" ? patientHttp(node.url) : patientWebSocket(node.wsUrl));
    context.after(() => closeSocket(reader));
    const heard: Log[] = [];
    const heads: bigint[] = [];
    const pending: string[] = [];
    const onError = (error: Error) => assert.fail(error);
    let stops: readonly (() => void)[] = [];
    const calls = kind === "http" ? { eth_newFilter: 1, eth_newPendingTransactionFilter: 1 } : { eth_subscribe: 3 };
    await subscribed(calls, () => {
      stops = [
        reader.watchContractEvent({
          address: tokenAddress,
          abi: token.abi,
          eventName: "Transfer",
          onLogs: (logs) => heard.push(...logs),
          onError,
        }),
        reader.watchBlockNumber({ onBlockNumber: (number) => heads.push(number), onError }),
        reader.watchPendingTransactions({
          onTransactions: (hashes) => pending.push(...hashes),
          onError,
        }),
      ];
    });
    const sent = await transfers(3);
    const hashes = () => heard.map(({ transactionHash }) => transactionHash);
    await until(() => {
      return hashes().includes(sent.at(-1)!) && pending.includes(sent.at(-1)!) && heads.length >= 1;
    }, "the last transfer");
    assert.deepEqual(hashes(), sent);
    assert.deepEqual(pending, sent);
    for (const stop of stops) stop();
  });
}

test("cast logs --subscribe prints what happens", {
  skip: castBinary ? false : "no cast binary",
}, async () => {
  let child: ChildProcess | undefined;
  let output = "";
  try {
    await subscribed({ eth_subscribe: 1 }, () => {
      const flags = ["--subscribe", "--address", tokenAddress, "--rpc-url", node.wsUrl];
      child = spawn(castBinary!, ["logs", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
      child.stdout!.on("data", (chunk: Buffer) => {
        output += chunk;
      });
    });
    const [hash] = await transfers(1);
    await until(() => output.includes(hash!), "the transfer in what cast prints");
  } finally {
    child?.kill("SIGKILL");
  }
});

test("ethers getLogs by block hash gives the logs of the receipt", async () => {
  const [hash] = await transfers(1);
  const provider = new JsonRpcProvider(node.url, undefined, { cacheTimeout: -1 });
  try {
    const receipt = await provider.getTransactionReceipt(hash!);
    const logs = await provider.getLogs({ blockHash: receipt!.blockHash });
    const told = (list: readonly EthersLog[]) =>
      list.map(({ address, topics, data, index }) => ({ address, topics, data, index }));
    assert.deepEqual(told(logs), told(receipt!.logs));
    assert.equal(logs[0]!.transactionHash, hash);
  } finally {
    provider.destroy();
  }
});

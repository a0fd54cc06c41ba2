import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import {
  type BaseContract,
  Contract,
  type Log as EthersLog,
  type InterfaceAbi,
  JsonRpcProvider,
  WebSocketProvider,
} from "ethers";
import { http, type Log, type Transport, webSocket } from "viem";
import { foundryBinary } from "../../bench/support/peers.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";
import { viemClients } from "../support/viem-clients.ts";

const token = contract("Token");
const castBinary = foundryBinary("cast");
let node: TestNode;
let tokenAddress: `0x${string}`;

before(async () => {
  node = await startTestNode({ dev: true });
  const { reader, wallet } = clients();
  const hash = await wallet.deployContract({ ...token, args: [10n ** 9n] });
  tokenAddress = (await reader.waitForTransactionReceipt({ hash })).contractAddress!;
});
after(() => node.stop());

const clients = (transport: Transport = http(node.url)) => viemClients(node, transport, http(node.url));

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

/**
 * Sends transfers, one after the other, until one is heard before the next: subscribers that poll, and programs that start, hear from some moment on that they
 * do not tell.
 */
async function untilHeard(hears: (hash: string) => boolean, who: () => string): Promise<void> {
  let [hash] = await transfers(1);
  let looks = 0;
  await until(
    async () => {
      if (hears(hash!)) return true;
      looks++;
      // Each transfer has twice as long as all before it.
      if (looks >= 16 && (looks & (looks - 1)) === 0) [hash] = await transfers(1);
      return false;
    },
    () => `${who()} to hear a transfer`,
  );
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
      await events.on("Transfer", (_from, _to, _value, { log }) => heard.push(log.transactionHash));
      const blocks: number[] = [];
      await provider.on("block", (number) => blocks.push(number));
      await untilHeard(
        (hash) => heard.at(-1) === hash && blocks.length >= 1,
        () => "the contract",
      );
      heard.length = 0;
      const sent = await transfers(3);
      await until(() => heard.includes(sent.at(-1)!), "three transfers");
      // One that is heard twice would come before the next.
      sent.push(...(await transfers(1)));
      await until(() => heard.includes(sent.at(-1)!), "a fourth transfer");
      assert.deepEqual(heard, sent);
      const past = await events.queryFilter("Transfer", 0, "latest");
      assert.deepEqual(
        past.slice(-4).map(({ transactionHash }) => transactionHash),
        sent,
      );
    } finally {
      // A filter that is being asked would begin to poll again, for ever, after `destroy`.
      provider.pause(true);
      await provider.destroy();
    }
  });

  test(`viem watchContractEvent, watchBlocks and watchPendingTransactions over ${kind}`, async (context) => {
    const { reader } = clients(kind === "http" ? http(node.url) : webSocket(node.wsUrl));
    context.after(() => closeSocket(reader));
    const heard: Log[] = [];
    const heads: bigint[] = [];
    const pending: string[] = [];
    const onError = (error: Error) => assert.fail(error);
    const stops = [
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
    await untilHeard(
      (hash) => heard.at(-1)?.transactionHash === hash && pending.at(-1) === hash,
      () => "the watchers",
    );
    heard.length = 0;
    pending.length = 0;
    const sent = await transfers(3);
    await until(() => heard.length >= 3 && pending.length >= 3, "three transfers");
    assert.deepEqual(
      heard.map(({ transactionHash }) => transactionHash),
      sent,
    );
    assert.deepEqual(pending, sent);
    assert.ok(heads.length >= 1);
    for (const stop of stops) stop();
  });
}

test("cast logs --subscribe prints what happens", {
  skip: castBinary ? false : "no cast binary",
}, async () => {
  const child = spawn(castBinary!, ["logs", "--subscribe", "--address", tokenAddress, "--rpc-url", node.wsUrl], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  try {
    await untilHeard(
      (hash) => output.includes(hash),
      () => `cast, which said ${output},`,
    );
  } finally {
    child.kill("SIGKILL");
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

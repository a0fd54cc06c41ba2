import assert from "node:assert/strict";
import { test } from "node:test";
import { Web3 } from "web3";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

test("web3.js subscribes to heads, logs, pending transactions and contract events", async () => {
  const node = await startTestNode({ dev: true });
  const web3 = new Web3(node.wsUrl);
  const into =
    <T>(list: string[], textOf: (value: T) => unknown) =>
    (value: T): void => {
      list.push(String(textOf(value)));
    };
  try {
    const artifact = contract("Token");
    const from = DEV_ADDRESSES[0];
    const token = await new web3.eth.Contract(artifact.abi as never)
      .deploy({ data: artifact.bytecode, arguments: [1000n] as never })
      .send({ from });
    const heard = {
      heads: [] as string[],
      logs: [] as string[],
      pending: [] as string[],
      events: [] as string[],
    };
    type Mined = { readonly transactionHash?: unknown };
    const heads = await web3.eth.subscribe("newBlockHeaders");
    heads.on(
      "data",
      into(heard.heads, ({ number }) => number),
    );
    const logs = await web3.eth.subscribe("logs", { address: token.options.address! });
    logs.on(
      "data",
      into(heard.logs, (log) => (log as Mined).transactionHash),
    );
    const pending = await web3.eth.subscribe("newPendingTransactions");
    pending.on(
      "data",
      into(heard.pending, (hash) => hash),
    );
    const events = token.events["Transfer"]!();
    events.on(
      "data",
      into(heard.events, (event) => (event as Mined).transactionHash),
    );
    await new Promise((resolve) => events.once("connected", resolve));

    const transfer = token.methods["transfer"] as (...args: unknown[]) => {
      send(options: object): Promise<{ transactionHash: string; blockNumber: bigint }>;
    };
    const receipt = await transfer(DEV_ADDRESSES[1], 5n).send({ from });
    const { transactionHash: hash, blockNumber } = receipt;
    const isHeard = () =>
      heard.heads.includes(String(blockNumber)) && Object.values(heard).every(({ length }) => length > 0);
    await until(isHeard, () => `all of it, after ${JSON.stringify(heard)}`);
    const { heads: numbers, ...others } = heard;
    // Each block once; blocks by time come without transactions too.
    assert.equal(new Set(numbers).size, numbers.length);
    assert.deepEqual(others, { logs: [hash], pending: [hash], events: [hash] });
    for (const subscription of [heads, logs, pending]) await subscription.unsubscribe();
  } finally {
    web3.provider?.disconnect();
    await node.stop();
  }
});

import assert from "node:assert/strict";
import { decodeFunctionResult, encodeFunctionData } from "viem";
import type { BrowserNode } from "../../src/package/browser/create-node.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
const { abi, bytecode } = contract("Token");
const SUPPLY = 1_000n;
const input = (functionName: string, ...args: readonly unknown[]) => encodeFunctionData({ abi, functionName, args });

type Node = Pick<BrowserNode, "rpc" | "snapshot" | "revert">;

/** Deploys a contract, calls it, and looks at what happened in every way there is, on an empty dev chain. */
export async function useContract({ rpc, snapshot, revert }: Node): Promise<void> {
  const logFilter = await rpc.eth_newFilter({ fromBlock: "0x0" });
  const blockFilter = await rpc.eth_newBlockFilter();
  const send = async (transaction: object) => {
    const hash = await rpc.eth_sendTransaction({ from: ALICE, gas: "0x200000", ...transaction });
    const receipt = await rpc.eth_getTransactionReceipt(hash);
    assert.ok(receipt);
    return receipt;
  };
  const data = `${bytecode}${SUPPLY.toString(16).padStart(64, "0")}`;
  const { contractAddress: to } = await send({ data });
  assert.ok(to);
  const balanceOf = async (account: string) => {
    const result = await rpc.eth_call({ to, data: input("balanceOf", account) }, "latest");
    return decodeFunctionResult({ abi, functionName: "balanceOf", data: result });
  };
  assert.equal(await balanceOf(ALICE), SUPPLY);

  const transfer = await send({ to, data: input("transfer", BOB, 5n) });
  assert.equal(transfer.status, "0x1");
  assert.equal(transfer.logs.length, 1);
  assert.equal(await balanceOf(BOB), 5n);

  const tooMuch = { to, from: BOB, data: input("transfer", ALICE, 6n) };
  await assert.rejects(rpc.eth_call(tooMuch, "latest"), { code: 3 });
  assert.equal((await send(tooMuch)).status, "0x0");

  const before = await snapshot();
  await send({ to, data: input("transfer", BOB, 7n) });
  assert.equal(await balanceOf(BOB), 12n);
  assert.equal(await revert(before), true);
  assert.equal(await balanceOf(BOB), 5n);

  const logs = await rpc.eth_getLogs({ fromBlock: "0x0", address: to });
  assert.equal(logs.length, 2);
  assert.deepEqual((await rpc.eth_getFilterLogs(logFilter)) as unknown, logs);
  const blocks = (await rpc.eth_getFilterChanges(blockFilter)) as readonly string[];
  assert.ok(blocks.includes(transfer.blockHash));
  assert.equal(await rpc.eth_blockNumber(), "0x3");
}

/**
 * The methods that bend a dev chain against anvil: the same calls, one after the other, to both. Answers are compared, and after each the
 * state that it should have changed. `docs/compliance.md` lists what differs and why.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { foundryBinary, type Peer, startAnvil } from "../../bench/support/peers.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";

const skip = foundryBinary("anvil") === undefined && "anvil is not installed";
const [ALICE, BOB] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000beef1";
const SLOT = `0x${"00".repeat(31)}05`;
const WORD = `0x${"00".repeat(31)}4d`;

type Call = readonly [method: string, ...params: unknown[]];

/** Each with calls that show what it did. `at` is a time after every block of both chains. */
function script(at: number): readonly Call[] {
  return [
    ["anvil_setBalance", STRANGER, "0xde0b6b3a7640000"],
    ["eth_getBalance", STRANGER, "latest"],
    ["anvil_addBalance", STRANGER, "0x5"],
    ["eth_getBalance", STRANGER, "latest"],
    ["anvil_addBalance", STRANGER, `0x${"ff".repeat(32)}`],
    ["eth_getBalance", STRANGER, "latest"],
    ["anvil_setBalance", STRANGER, "0xde0b6b3a7640000"],
    ["anvil_setNonce", STRANGER, "0x9"],
    ["eth_getTransactionCount", STRANGER, "latest"],
    ["anvil_setCode", STRANGER, "0x6001"],
    ["eth_getCode", STRANGER, "latest"],
    ["anvil_setStorageAt", STRANGER, "0x5", WORD],
    ["eth_getStorageAt", STRANGER, SLOT, "latest"],
    ["eth_blockNumber"],
    ["evm_mine_detailed"],
    ["evm_snapshot"],
    ["evm_mine"],
    ["evm_mine", at],
    ["eth_blockNumber"],
    ["anvil_mine", "0x3", "0xa"],
    ["eth_blockNumber"],
    ["eth_getBalance", STRANGER, "latest"],
    ["evm_setNextBlockTimestamp", at + 1000],
    ["evm_mine"],
    ["anvil_setBlockTimestampInterval", 7],
    ["evm_mine"],
    ["anvil_removeBlockTimestampInterval"],
    ["anvil_removeBlockTimestampInterval"],
    ["anvil_setNextBlockBaseFeePerGas", "0x3b9aca00"],
    ["evm_mine"],
    ["evm_setBlockGasLimit", "0x1000000"],
    ["anvil_setCoinbase", BOB],
    ["evm_mine"],
    ["anvil_getAutomine"],
    ["evm_setAutomine", false],
    ["anvil_getAutomine"],
    ["eth_sendTransaction", { from: ALICE, to: BOB, value: "0x1", gas: "0x5208", nonce: "0x0" }],
    ["txpool_status"],
    ["anvil_dropAllTransactions"],
    ["txpool_status"],
    ["anvil_removePoolTransactions", ALICE],
    ["anvil_dropTransaction", `0x${"11".repeat(32)}`],
    ["anvil_getIntervalMining"],
    ["anvil_setIntervalMining", 3600],
    ["anvil_getIntervalMining"],
    ["anvil_setIntervalMining", 0],
    ["evm_setAutomine", true],
    ["anvil_getAutomine"],
    ["anvil_impersonateAccount", STRANGER],
    ["anvil_stopImpersonatingAccount", STRANGER],
    ["anvil_autoImpersonateAccount", true],
    ["anvil_autoImpersonateAccount", false],
    ["anvil_setLoggingEnabled", false],
    ["evm_revert", "0x7777"],
    ["anvil_rollback", 2],
    ["eth_blockNumber"],
    ["anvil_rollback", 5000],
    ["anvil_reorg", 2, []],
    ["eth_blockNumber"],
    ["anvil_setBalance", ALICE, "0xde0b6b3a7640000"],
    [
      "anvil_reorg",
      2,
      [
        [{ from: ALICE, to: BOB, value: "0x5" }, 0],
        [{ from: ALICE, to: BOB, value: "0x6" }, 1],
        [{ from: ALICE, to: BOB, value: "0x7" }, 1],
      ],
    ],
    ["eth_getTransactionCount", ALICE, "latest"],
    ["eth_getBlockTransactionCountByNumber", "latest"],
    ["anvil_reorg", 1, [[{ from: STRANGER, to: BOB, value: "0x5" }, 0]]],
    ["anvil_reset"],
    ["eth_blockNumber"],
    ["eth_getBalance", STRANGER, "latest"],
  ];
}

let ours: TestNode;
let anvil: Peer;

before(async () => {
  if (skip) return;
  ours = await startTestNode({ dev: true, settings: ONE_PROCESS });
  const peer = await startAnvil({ extraArguments: ["--gas-limit", "60000000"] });
  assert.ok(peer);
  anvil = peer;
});
after(async () => {
  await ours?.stop();
  await anvil?.stop();
});

const anvilUrl = () => `http://127.0.0.1:${anvil.port}`;

async function ask(url: string, [method, ...params]: Call) {
  const { result, error } = await callHttp(url, method, params);
  return error === undefined ? { result } : { isError: true };
}

async function headOf(url: string) {
  const { result } = await callHttp(url, "eth_getBlockByNumber", ["latest", false]);
  return result as Record<string, string>;
}

test("the same calls get the same answers", { skip }, async (t) => {
  const at = Math.floor(Date.now() / 1000) + 5000;
  let isTimed = false;
  let timedAt = 0;
  let before = "";
  for (const call of script(at)) {
    const [method, first] = call;
    const begin = performance.now();
    const [mine, theirs] = [await ask(ours.url, call), await ask(anvilUrl(), call)];
    const [head, theirHead] = [await headOf(ours.url), await headOf(anvilUrl())];
    if (!isTimed && method === "evm_mine" && first !== undefined) {
      isTimed = true;
      timedAt = begin;
    }
    isTimed &&= !/^anvil_(?:reset|rollback|reorg)/.test(method);
    const isForced = before === "anvil_setNextBlockBaseFeePerGas";
    before = method;
    await t.test(JSON.stringify(call), () => {
      // An id says nothing, and the hash of a transaction or a block depends on the fees of the moment.
      if (!/snapshot|sendTransaction|detailed/.test(method)) assert.deepEqual(mine, theirs);
      assert.equal(head["number"], theirHead["number"]);
      // Both clocks go on, and the calls are not made at the same moment.
      const seconds = Math.ceil((performance.now() - timedAt) / 1000);
      const apart = Math.abs(Number(head["timestamp"]) - Number(theirHead["timestamp"]));
      if (isTimed) assert.ok(apart <= seconds, `${apart} s apart after ${seconds} s`);
      if (isForced) assert.equal(head["baseFeePerGas"], theirHead["baseFeePerGas"]);
      if (/Coinbase|GasLimit/.test(method)) {
        assert.equal(head["miner"], theirHead["miner"]);
        assert.equal(head["gasLimit"], theirHead["gasLimit"]);
      }
    });
  }
});

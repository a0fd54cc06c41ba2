/** The schemas of results against real answers: `rpc_discover`, docs/rpc/ and the types of `node.rpc` are made of them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createNode, type EvmintNode, type Hex } from "../../src/index.ts";
import { DEV_METHODS } from "../../src/rpc/methods/dev/methods.ts";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { contract } from "../support/contracts.ts";
import { schemaFaults } from "../support/json-schema.ts";

const token = contract("Token");
const methods = new Map([...METHODS, ...DEV_METHODS].map((method) => [method.name, method]));
const SLOT = `0x${"00".repeat(32)}` as Hex;

const artifacts = mkdtempSync(join(tmpdir(), "evmint-artifacts-"));
let node: EvmintNode;
let hash: Hex;
let blockHash: Hex;
let contractAddress: Hex;
before(async () => {
  const artifact = { contractName: "Token", abi: token.abi, bytecode: token.bytecode, deployedBytecode: token.runtime };
  writeFileSync(join(artifacts, "Token.json"), JSON.stringify(artifact));
  node = await createNode({ settings: { "json-rpc.api": "all", artifacts: artifacts } });
  const from = node.accounts[0]!.address;
  const data = `${token.bytecode}${"3e8".padStart(64, "0")}` as Hex;
  const deployed = await node.rpc.eth_sendTransaction({ from, data });
  contractAddress = (await node.rpc.eth_getTransactionReceipt(deployed))!.contractAddress!;
  const to = node.accounts[1]!.address;
  const transfer = `0xa9059cbb${to.slice(2).padStart(64, "0")}${"5".padStart(64, "0")}` as Hex;
  hash = await node.rpc.eth_sendTransaction({ from, to: contractAddress, data: transfer });
  blockHash = (await node.rpc.eth_getTransactionReceipt(hash))!.blockHash;
});
after(async () => {
  await node.stop();
  rmSync(artifacts, { recursive: true });
});

/** Parameters for every method with a schema; several lists where it has several kinds of results. */
function calls(): Readonly<Record<string, readonly (readonly unknown[])[]>> {
  const from = node.accounts[0]!.address;
  const to = contractAddress;
  const payment = { from, to: from, value: "0x1" };
  const fields = { ...payment, gas: "0x5208", nonce: "0x2", gasPrice: "0x77359400" };
  return {
    rpc_modules: [[]],
    eth_syncing: [[]],
    eth_feeHistory: [["0x2", "latest", [10, 50]]],
    eth_getProof: [[to, [SLOT], "latest"]],
    eth_getStorageValues: [[{ [to]: [SLOT] }, "latest"]],
    eth_getBlockByNumber: [
      ["latest", false],
      ["latest", true],
      ["pending", true],
      ["0xff", true],
    ],
    eth_getBlockByHash: [[blockHash, false]],
    eth_getHeaderByNumber: [["latest"]],
    eth_getHeaderByHash: [[blockHash]],
    eth_getBlockReceipts: [["latest"], ["0x1"]],
    eth_getTransactionByHash: [[hash], [SLOT]],
    eth_getTransactionByBlockHashAndIndex: [[blockHash, "0x0"]],
    eth_getTransactionByBlockNumberAndIndex: [["0x1", "0x0"]],
    eth_getTransactionbyBlockNumberAndIndex: [["0x1", "0x0"]],
    eth_getTransactionBySenderAndNonce: [[from, "0x0"]],
    eth_getTransactionReceipt: [[hash], [SLOT]],
    eth_getTransactionLogs: [[hash], [SLOT]],
    eth_getUncleByBlockHashAndIndex: [[blockHash, "0x0"]],
    eth_getUncleByBlockNumberAndIndex: [["0x1", "0x0"]],
    eth_pendingTransactions: [[]],
    eth_getAccount: [[from, "latest"]],
    eth_getAccountInfo: [[to, "latest"]],
    eth_createAccessList: [[{ from, to, data: "0x18160ddd" }, "latest"]],
    eth_getLogs: [[{ fromBlock: "0x0" }]],
    erigon_getHeaderByNumber: [["latest"]],
    erigon_getHeaderByHash: [[blockHash]],
    erigon_getBlockReceiptsByBlockHash: [[blockHash]],
    erigon_getLogs: [[{ fromBlock: "0x0" }]],
    eth_getKnownContracts: [[[to, from]], [[to], true]],
    eth_findContracts: [["tok"]],
    eth_signTransaction: [[fields]],
    eth_fillTransaction: [[payment]],
    txpool_status: [[]],
    txpool_content: [[]],
    txpool_contentFrom: [[from]],
    txpool_inspect: [[]],
    hardhat_metadata: [[]],
    anvil_metadata: [[]],
    anvil_getGenesisTime: [[]],
    evm_mine_detailed: [[{ blocks: 2 }]],
    anvil_mine_detailed: [[]],
    evm_mine: [[]],
    hardhat_mine: [[]],
    anvil_mine: [["0x1", "0x5"]],
    hardhat_intervalMine: [[]],
    evm_snapshot: [[]],
    anvil_dumpState: [[]],
    evm_increaseTime: [[5]],
    evm_setBlockGasLimit: [["0x3938700"]],
    anvil_getIntervalMining: [[]],
    anvil_removeBlockTimestampInterval: [[]],
    anvil_dropTransaction: [[hash]],
    hardhat_dropTransaction: [[hash]],
    anvil_setBalance: [[to, "0x1"]],
    hardhat_addBalance: [[to, "0x1"]],
    anvil_setStorageAt: [[to, "0x5", SLOT]],
    hardhat_setNonce: [[to, "0x5"]],
    evm_revert: [["0x77"]],
  };
}

/** They need what another call returned, a transaction of their own, or a checkpoint (`test/e2e/les/`). */
const ELSEWHERE = [
  "eth_getFilterLogs",
  "eth_getFilterChanges",
  "eth_sendRawTransactionSync",
  "eth_getBlockAccessList",
  "les_getHeaderProof",
];

test("every schema of a result is compared with an answer", () => {
  const compared = [...Object.keys(calls()), ...ELSEWHERE];
  const structured = METHODS.filter(({ resultSchema }) =>
    /"(?:additionalP|p)roperties"/.test(JSON.stringify(resultSchema)),
  );
  assert.deepEqual(
    structured.map(({ name }) => name).filter((name) => !compared.includes(name)),
    [],
  );
});

test("answers match the schemas of their methods", async (t) => {
  for (const isPooled of [false, true]) {
    if (isPooled) {
      await node.setAutomine(false);
      const [from, to] = node.accounts.map(({ address }) => address);
      await node.rpc.eth_sendTransaction({ from: from!, to: to!, value: 1n });
    }
    for (const [name, lists] of Object.entries(calls())) {
      for (const params of lists) {
        await t.test(`${name} ${JSON.stringify(params)}, pooled: ${isPooled}`, async () => {
          const result = await node.provider.request({ method: name, params });
          assert.deepEqual(schemaFaults(result, methods.get(name)!.resultSchema), []);
        });
      }
    }
  }
});

test("filters and sent transactions match their schemas", async () => {
  await node.setAutomine(true);
  const schemaOf = (name: string) => methods.get(name)!.resultSchema;
  const logs = await node.rpc.eth_newFilter({ fromBlock: "0x0" });
  const found = await node.rpc.eth_getFilterLogs(logs);
  assert.ok(found.length > 0);
  assert.deepEqual(schemaFaults(found, schemaOf("eth_getFilterLogs")), []);
  const blocks = await node.rpc.eth_newBlockFilter();
  node.produceBlock();
  const hashes = await node.rpc.eth_getFilterChanges(blocks);
  assert.equal(hashes.length, 1);
  assert.deepEqual(schemaFaults(hashes, schemaOf("eth_getFilterChanges")), []);
  const from = node.accounts[2]!.address;
  const { raw } = await node.rpc.eth_signTransaction({
    from,
    to: from,
    value: 1n,
    gas: 21_000n,
    nonce: 0n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1n,
  });
  const receipt = await node.rpc.eth_sendRawTransactionSync(raw);
  assert.equal(receipt.status, "0x1");
  assert.deepEqual(schemaFaults(receipt, schemaOf("eth_sendRawTransactionSync")), []);
});

test("an answer that lacks a member, or has one more or another type, does not match", () => {
  const { resultSchema } = methods.get("txpool_status")!;
  const faultsOf = (value: unknown) => schemaFaults(value, resultSchema).length;
  assert.equal(faultsOf({ pending: "0x0", queued: "0x0" }), 0);
  assert.equal(faultsOf({ pending: "0x0" }), 1);
  assert.equal(faultsOf({ pending: "0x0", queued: "0x0", other: 1 }), 1);
  assert.equal(faultsOf({ pending: "0x0", queued: "0x00" }), 1);
  assert.equal(faultsOf({ pending: "0x0", queued: 0 }), 1);
  assert.equal(faultsOf(null), 1);
});

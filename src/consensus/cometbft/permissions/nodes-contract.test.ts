import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { encodeDeployData, encodeFunctionData } from "viem";
import {
  ACCOUNTS,
  inputOf,
  openTestApplication,
  proposalOf,
  REVERTER,
  transferOf,
} from "../../../../test/support/consensus/test-application.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { type Logger, SILENT_LOGGER } from "../../../base/telemetry/logger.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import { ChainNodesContract } from "./nodes-contract.ts";

const { abi, bytecode } = JSON.parse(
  readFileSync(new URL("../../../../contracts/AllowedNodes.json", import.meta.url), "utf8"),
);
const A = "aa".repeat(20);
const B = "bb".repeat(20);

/** Collects the texts of errors. */
function loggerInto(lines: string[]): Logger {
  return { ...SILENT_LOGGER, error: (text) => void lines.push(text) };
}

/** A node whose head has what `deployment` makes, and `ask` for the contract. */
function nodeWith(deployment: `0x${string}`) {
  const node = openTestApplication();
  let nonce = 0;
  const send = (to: Address | null, data: `0x${string}`) =>
    commit(node, transferOf(0, nonce++, { to, value: 0n, data: hexToBytes(data), gasLimit: 2_000_000n }));
  const { contractAddress } = send(null, deployment);
  const lines: string[] = [];
  const log = loggerInto(lines);
  const contract = new ChainNodesContract(contractAddress!, { chain: node.chain, execution: node.execution, log });
  return { node, contract, lines, send: (data: `0x${string}`) => send(contractAddress, data) };
}

/** Makes a block of one transaction; its receipt. */
function commit({ application, mempool, chain }: ReturnType<typeof openTestApplication>, tx: Transaction) {
  const { number } = chain.head().block.header;
  mempool.add({ tx });
  const proposal = proposalOf(number + 1);
  const txs = application.prepareProposal({ ...proposal, maxTxBytes: 1_000_000 });
  application.finalizeBlock(inputOf(proposal, txs));
  application.commit();
  const [receipt] = chain.head().receipts;
  assert.equal(receipt?.status, 1);
  return receipt;
}

test("contracts/AllowedNodes.sol is asked in the state after each block", () => {
  const args = [ACCOUNTS[0]!, [`0x${A}`]];
  const { contract, lines, send } = nodeWith(encodeDeployData({ abi, bytecode, args }));
  assert.deepEqual([contract.ask(A), contract.ask(B)], ["allowed", "refused"]);
  send(encodeFunctionData({ abi, functionName: "allow", args: [`0x${B}`, "bank B"] }));
  send(encodeFunctionData({ abi, functionName: "remove", args: [`0x${A}`] }));
  assert.deepEqual([contract.ask(A), contract.ask(B)], ["refused", "allowed"]);
  assert.deepEqual(lines, []);
});

test("an invalid answer is unknown, and logged once", () => {
  // Runtime code, after its length: copied and returned by the eleven bytes before it.
  const deploying = (code: string) =>
    `0x60${(code.length / 2).toString(16).padStart(2, "0")}80600b6000396000f3${code}` as const;
  const cases = {
    "no code": "00",
    "an invalid instruction": "fe",
    "a loop that takes all gas": "5b5f56",
    "a bool of two words": "60405ff3",
    "a number above 1": "60025f5260205ff3",
    "a revert with a bool": "60015f5260205ffd",
  };
  for (const [name, code] of Object.entries(cases)) {
    const { contract, lines } = nodeWith(deploying(code));
    assert.deepEqual([contract.ask(A), contract.ask(B)], ["unknown", "unknown"], name);
    assert.equal(lines.length, 1, name);
  }
  const { node } = nodeWith(deploying("00"));
  const log = SILENT_LOGGER;
  const reverting = new ChainNodesContract(REVERTER, { chain: node.chain, execution: node.execution, log });
  assert.equal(reverting.ask(A), "unknown");
});

/**
 * A suite of contract tests in the way of contract projects: a fixture is deployed once, each test begins at its snapshot. Plain
 * JavaScript, because the runner that loads it may be of another project.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createPublicClient, createWalletClient, custom, encodeDeployData } from "viem";
import { openTarget } from "./targets.mjs";

const token = JSON.parse(readFileSync(new URL("../../test/contracts/Token.json", import.meta.url), "utf8"));
const SUPPLY = 1_000_000n;

/**
 * @param runner the functions of vitest or node:test
 * @param count of tests
 */
export function defineSuite({ test, before, beforeEach, after }, count) {
  let target;
  let wallet;
  let reader;
  let accounts;
  let address;
  let snapshot;
  const request = (method, ...params) => target.provider.request({ method, params });

  before(async () => {
    target = await openTarget();
    // viem would try a reverted call four times, a second in all.
    const transport = custom(target.provider, { retryCount: 0 });
    wallet = createWalletClient({ chain: null, transport });
    reader = createPublicClient({ transport });
    accounts = await wallet.getAddresses();
    address = (await deploy(SUPPLY)).contractAddress;
    snapshot = await request("evm_snapshot");
  });
  beforeEach(async () => {
    assert.equal(await request("evm_revert", snapshot), true);
    snapshot = await request("evm_snapshot");
  });
  after(() => target.close());

  /** A transaction is mined at once; some nodes answer its hash a moment before. */
  async function receiptOf(hash) {
    for (;;) {
      const receipt = await request("eth_getTransactionReceipt", hash);
      if (receipt) return receipt;
      await new Promise(setImmediate);
    }
  }

  async function deploy(supply) {
    const data = encodeDeployData({ abi: token.abi, bytecode: token.bytecode, args: [supply] });
    return receiptOf(await request("eth_sendTransaction", { from: accounts[0], data }));
  }

  const read = (functionName, ...args) => reader.readContract({ address, abi: token.abi, functionName, args });

  async function write(account, functionName, ...args) {
    const hash = await wallet.writeContract({
      address,
      abi: token.abi,
      functionName,
      args,
      account,
    });
    return receiptOf(hash);
  }

  const bodies = {
    async "a transfer moves tokens and emits an event"(i) {
      const receipt = await write(accounts[0], "transfer", accounts[1], BigInt(i));
      assert.equal(receipt.status, "0x1");
      assert.equal(receipt.logs.length, 1);
      assert.equal(await read("balanceOf", accounts[1]), BigInt(i));
      assert.equal(await read("balanceOf", accounts[0]), SUPPLY - BigInt(i));
    },
    async "too large a transfer reverts with its custom error"(i) {
      const args = [accounts[1], SUPPLY + BigInt(i)];
      await assert.rejects(
        reader.simulateContract({
          address,
          abi: token.abi,
          functionName: "transfer",
          args,
          account: accounts[0],
        }),
        (error) => error.walk(({ data }) => data?.errorName === "InsufficientBalance") !== null,
      );
      assert.equal(await read("balanceOf", accounts[1]), 0n);
    },
    async "an allowance is spent by another account"(i) {
      await write(accounts[0], "approve", accounts[2], BigInt(i));
      await write(accounts[2], "transferFrom", accounts[0], accounts[1], BigInt(i));
      assert.equal(await read("allowance", accounts[0], accounts[2]), 0n);
      assert.equal(await read("balanceOf", accounts[1]), BigInt(i));
    },
    async "another token has its own supply"(i) {
      const { contractAddress } = await deploy(BigInt(i));
      const other = { address: contractAddress, abi: token.abi, functionName: "totalSupply" };
      assert.equal(await reader.readContract(other), BigInt(i));
      assert.equal(await read("totalSupply"), SUPPLY);
    },
  };
  const kinds = Object.entries(bodies);
  for (let i = 0; i < count; i++) {
    const [name, body] = kinds[i % kinds.length];
    test(`${name} (${i})`, () => body(i + 1));
  }
}

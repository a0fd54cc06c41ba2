import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createPublicClient, custom, encodeAbiParameters, keccak256, multicall3Abi, parseAbi, toHex } from "viem";
import { init } from "../../src/cli/commands/init.ts";
import { createNode } from "../../src/index.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { nodeOperations } from "../../src/node/roles/operations.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { fakeContext } from "../support/cli/fake-context.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";
const PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";

const folder = mkdtempSync(join(tmpdir(), "evmint-dev-chain-"));
after(() => rmSync(folder, { recursive: true }));

const work = () => ({ onProgress() {}, signal: new AbortController().signal });

test("a dev chain exported from one home imports into another", async () => {
  const settings = { accounts: "12", "chain-id": "1337", timestamp: "2026-01-31" };
  const homes = ["first", "second"].map((name) => join(folder, name)) as [string, string];
  const file = join(folder, "chain.rlp");
  const node = await createNode({ home: homes[0], settings });
  const accounts = (await node.provider.request({ method: "eth_accounts" })) as string[];
  assert.equal(accounts.length, 12);
  const params = [{ from: accounts[11], to: BOB, value: "0x1" }];
  await node.provider.request({ method: "eth_sendTransaction", params });
  await node.stop();
  const configs = homes.map((home) => loadConfig({ home, dev: true, flags: settings, environment: {} }).config);
  const range = { file, first: undefined, last: undefined };
  await nodeOperations.exportChain(configs[0]!, STRICT_LOGGER, { ...work(), ...range });
  const result = await nodeOperations.importChain(configs[1]!, STRICT_LOGGER, { ...work(), file });
  assert.deepEqual(result, { imported: 1, skipped: 0, head: 1 });
});

test("transactions that are sent at once have a block each, in the order of an account's nonces, unless that is set otherwise", async () => {
  const blocksOf = async (settings: Record<string, string>) => {
    await using node = await createNode({ settings });
    const request = (method: string, ...params: unknown[]) => node.provider.request({ method, params });
    const send = (from: string) => request("eth_sendTransaction", { from, to: BOB, value: "0x1" });
    const hashes = await Promise.all([ALICE, BOB, ALICE, ALICE, BOB].map(send));
    const receipt = async (hash: unknown) => {
      for (;;) {
        const found = (await request("eth_getTransactionReceipt", hash)) as { readonly blockNumber: string } | null;
        if (found !== null) return Number(found.blockNumber);
      }
    };
    return await Promise.all(hashes.map(receipt));
  };
  const numbers = await blocksOf({});
  assert.deepEqual(new Set(numbers), new Set([1, 2, 3, 4, 5]));
  const ofAlice = [0, 2, 3].map((i) => numbers[i]!);
  assert.deepEqual(ofAlice, ofAlice.toSorted());
  assert.ok(Math.max(...(await blocksOf({ "batch-above": "0" }))) < 5);
});

test("blocks of another chain are named as such", async () => {
  const file = join(folder, "chain.rlp");
  const importInto = (name: string, settings: Record<string, string>) => {
    const home = join(folder, name);
    const { config } = loadConfig({ home, dev: true, flags: settings, environment: {} });
    return nodeOperations.importChain(config, STRICT_LOGGER, { ...work(), file });
  };
  await assert.rejects(importInto("foreign", {}), { code: "IMPORT_FOREIGN" });
});

test("Multicall3 and Permit2 work at their public addresses", async () => {
  const node = await createNode();
  try {
    const client = createPublicClient({ transport: custom(node.provider) });
    const balanceOf = (account: `0x${string}`) =>
      ({
        address: MULTICALL3,
        abi: multicall3Abi,
        functionName: "getEthBalance",
        args: [account],
      }) as const;
    const balances = await client.multicall({
      contracts: [balanceOf(ALICE), balanceOf(BOB)],
      multicallAddress: MULTICALL3,
      allowFailure: false,
    });
    assert.deepEqual(balances, [10_000n * 10n ** 18n, 10_000n * 10n ** 18n]);
    const domainSeparator = await client.readContract({
      address: PERMIT2,
      abi: parseAbi(["function DOMAIN_SEPARATOR() view returns (bytes32)"]),
      functionName: "DOMAIN_SEPARATOR",
    });
    const type = "EIP712Domain(string name,uint256 chainId,address verifyingContract)";
    const domain = encodeAbiParameters(
      [{ type: "bytes32" }, { type: "bytes32" }, { type: "uint256" }, { type: "address" }],
      [keccak256(toHex(type)), keccak256(toHex("Permit2")), 31337n, PERMIT2],
    );
    assert.equal(domainSeparator, keccak256(domain));
  } finally {
    await node.stop();
  }
});

test("hardhat_metadata keeps its instanceId over a restart and changes it with the chain's data", async () => {
  const home = join(folder, "instance");
  const instanceId = async () => {
    const node = await createNode({ home });
    const metadata = await node.provider.request({ method: "hardhat_metadata" });
    await node.stop();
    return (metadata as { instanceId: string }).instanceId;
  };
  const first = await instanceId();
  assert.equal(await instanceId(), first);
  rmSync(join(home, "data"), { recursive: true });
  assert.notEqual(await instanceId(), first);
});

test("the methods of dev chains do not exist on other chains", async () => {
  const node = await createNode({ dev: false, home: initialised("own") });
  try {
    for (const method of ["hardhat_metadata", "hardhat_getAutomine", "anvil_nodeInfo"]) {
      await assert.rejects(node.provider.request({ method }), { code: 4200 });
    }
  } finally {
    await node.stop();
  }
});

function initialised(name: string): string {
  const home = join(folder, name);
  init({ home }, fakeContext().context);
  return home;
}

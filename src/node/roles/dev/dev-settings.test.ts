/** Settings of a dev chain that anvil's flags stand for, as a caller sees them. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { mnemonicToAccount } from "viem/accounts";
import { deploymentOf } from "../../../../test/support/assembler.ts";
import { until } from "../../../../test/support/until.ts";
import { createNode, type EvmintNode } from "../../../index.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-dev-settings-"));
after(() => rmSync(folder, { recursive: true }));

const PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const STRANGER = "0x00000000000000000000000000000000000beef1";

const start = (settings: Record<string, string>) => createNode({ settings });

async function statusOf(node: EvmintNode, hash: `0x${string}`) {
  return (await node.rpc.eth_getTransactionReceipt(hash))?.status;
}

test("the accounts of a dev chain are of the phrase and path that are set, with the balance that is", async () => {
  const path = "m/44'/60'/2'/0/";
  await using node = await start({ mnemonic: PHRASE, "derivation-path": path, accounts: "2", balance: "0.5ether" });
  const expected = [0, 1].map(
    (index) => mnemonicToAccount(PHRASE, { path: `m/44'/60'/2'/0/${index}` }).address.toLowerCase() as `0x${string}`,
  );
  assert.deepEqual(await node.rpc.eth_accounts(), expected);
  assert.equal(BigInt(await node.rpc.eth_getBalance(expected[1]!)), 5n * 10n ** 17n);
});

test("a home has its phrase in a file of its user, and goes on with it", async () => {
  const home = join(folder, "wallet");
  const open = (settings = {}) => createNode({ home, dev: true, settings });
  const first = await open({ mnemonic: PHRASE });
  const accounts = await first.rpc.eth_accounts();
  await first.stop();
  const file = join(home, "config/dev-wallet.json");
  assert.equal(JSON.parse(readFileSync(file, "utf8")).mnemonic, PHRASE);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(!readFileSync(join(home, "config/dev-genesis.json"), "utf8").includes("legal"));
  const second = await open();
  assert.deepEqual(await second.rpc.eth_accounts(), accounts);
  await second.stop();
  await assert.rejects(open({ mnemonic: "test test test test test test test test test test test junk" }), {
    code: "CONFIG_INVALID",
    details: { key: "mnemonic" },
  });
  await assert.rejects(open({ "derivation-path": "m/44'/60'/9'/0" }), { details: { key: "derivation-path" } });
  writeFileSync(file, "{}");
  await assert.rejects(open(), { code: "CONFIG_INVALID" });
});

test("a home of the public phrase has no such file, and takes no other phrase later", async () => {
  const home = join(folder, "public");
  await (await createNode({ home, dev: true })).stop();
  assert.ok(!existsSync(join(home, "config/dev-wallet.json")));
  await assert.rejects(createNode({ home, dev: true, settings: { mnemonic: PHRASE } }), {
    details: { key: "mnemonic" },
  });
});

test("a phrase with a slip in it, and a path that is none, stop the start", async () => {
  for (const mnemonic of ["a b", PHRASE.replace("yellow", "year"), PHRASE.replace("legal", "lega1")]) {
    await assert.rejects(start({ mnemonic }), { code: "CONFIG_INVALID", details: { key: "mnemonic" } });
  }
  for (const path of ["44'/60'", "m/44h/60", "m/x", "m/4294967296"]) {
    await assert.rejects(start({ "derivation-path": path }), {
      code: "CONFIG_INVALID",
      message: /derivation-path/,
    });
  }
});

test("the newest rules of a dev chain are those of --hardfork", async () => {
  const push0 = deploymentOf("0x5f5ff3");
  const fieldsOf = async (hardfork: string) => {
    await using node = await start({ hardfork });
    const [from] = await node.rpc.eth_accounts();
    const hash = await node.rpc.eth_sendTransaction({ from: from!, data: push0, gas: "0x20000" });
    const { contractAddress } = (await node.rpc.eth_getTransactionReceipt(hash))!;
    const ran = await node.rpc.eth_call({ to: contractAddress! }).then(
      () => true,
      () => false,
    );
    const { withdrawalsRoot, excessBlobGas, requestsHash } = (await node.rpc.eth_getBlockByNumber("latest", false))!;
    return [ran, withdrawalsRoot !== undefined, excessBlobGas !== undefined, requestsHash !== undefined];
  };
  assert.deepEqual(await fieldsOf("paris"), [false, false, false, false]);
  assert.deepEqual(await fieldsOf("shanghai"), [true, true, false, false]);
  assert.deepEqual(await fieldsOf("cancun"), [true, true, true, false]);
  assert.deepEqual(await fieldsOf("bpo2"), [true, true, true, true]);
  await assert.rejects(start({ hardfork: "london" }), { code: "CONFIG_INVALID", message: /hardfork/ });
});

test("a gas limit without room for the access list of an empty block is refused from Amsterdam on", async () => {
  await assert.rejects(start({ hardfork: "amsterdam", "gas-limit": "49999" }), { code: "INVALID_GENESIS" });
  await using node = await start({ hardfork: "amsterdam", "gas-limit": "50000" });
  await node.mine();
  await assert.rejects(node.setBlockGasLimit(49_999), { code: -32000 });
  await node.setBlockGasLimit(60_000);
  await node.mine();
  assert.equal(Number((await node.rpc.eth_getBlockByNumber("latest", false))!.gasLimit), 60_000);
  await using older = await start({ "gas-limit": "30000" });
  await older.setBlockGasLimit(25_000);
  await older.mine();
});

test("a home with Amsterdam is not opened with too low a gas limit, and goes on with a better one", async () => {
  const home = join(folder, "low-gas-limit");
  const open = (settings = {}) => createNode({ home, settings });
  await (await open({ hardfork: "amsterdam" })).stop();
  await assert.rejects(open({ "gas-limit": "49999" }), { code: "CONFIG_INVALID", message: /gas-limit/ });
  await using node = await open({ "gas-limit": "50000" });
  await node.mine();
  assert.equal(Number((await node.rpc.eth_getBlockByNumber("latest", false))!.gasLimit), 50_000);
});

test("the base fee is that of block 0 and block 1, and the gas limit that of every block", async () => {
  await using node = await start({ "base-fee": "5gwei", "gas-limit": "12345678", "suggested-tip": "2gwei" });
  assert.equal(BigInt(await node.rpc.eth_gasPrice()), 7n * 10n ** 9n);
  await node.mine(2);
  const blocks = await Promise.all(
    (["0x0", "0x1", "0x2"] as const).map((number) => node.rpc.eth_getBlockByNumber(number, false)),
  );
  assert.deepEqual(
    blocks.map((block) => BigInt(block!.baseFeePerGas!)),
    [5_000_000_000n, 5_000_000_000n, 4_375_000_000n],
  );
  assert.deepEqual(new Set(blocks.map((block) => Number(block!.gasLimit))), new Set([12_345_678]));
  await node.setBlockGasLimit(20_000_000);
  await node.mine();
  assert.equal(Number((await node.rpc.eth_getBlockByNumber("latest", false))!.gasLimit), 20_000_000);
});

test("contracts, and the code that creates them, are as large as --code-size-limit says", async () => {
  const deploy = async (node: EvmintNode, bytes: number) => {
    const [from] = await node.rpc.eth_accounts();
    const data = deploymentOf(`0x${"00".repeat(bytes)}`);
    return statusOf(node, await node.rpc.eth_sendTransaction({ from: from!, data, gas: "0xe00000" }));
  };
  await using limited = await start({ "code-size-limit": "30000" });
  assert.equal(await deploy(limited, 30_000), "0x1");
  assert.equal(await deploy(limited, 30_001), "0x0");
  await assert.rejects(deploy(limited, 60_000), /max initcode size exceeded: code size 60012 limit 60000/);
  await using free = await start({ "code-size-limit": "none" });
  assert.equal(await deploy(free, 60_000), "0x1");
  // CREATE asks for the limit itself: a memory of 60,000 zeros is code that stops.
  const factory = deploymentOf("0x61ea6060006000f060005260206000f3");
  const [from] = await free.rpc.eth_accounts();
  const hash = await free.rpc.eth_sendTransaction({ from: from!, data: factory });
  const { contractAddress: to } = (await free.rpc.eth_getTransactionReceipt(hash))!;
  assert.notEqual(BigInt(await free.rpc.eth_call({ to: to!, gas: "0x1000000" })), 0n);
});

test("a transaction may have the gas of a block without --tx-gas-limit", async () => {
  const send = async (node: EvmintNode) => {
    const [from, to] = await node.rpc.eth_accounts();
    return statusOf(node, await node.rpc.eth_sendTransaction({ from: from!, to: to!, gas: "0x1c9c380" }));
  };
  await using free = await start({ "tx-gas-limit": "false", "gas-limit": "unlimited" });
  assert.equal(await send(free), "0x1");
  await using limited = await start({});
  await assert.rejects(send(limited), /transaction gas limit too high/);
});

test("every account sends with --auto-impersonate, until a caller says otherwise", async () => {
  await using node = await start({ "auto-impersonate": "true" });
  await node.setBalance(STRANGER, 10n ** 18n);
  const send = () => node.rpc.eth_sendTransaction({ from: STRANGER, to: STRANGER });
  assert.equal(await statusOf(node, await send()), "0x1");
  await node.autoImpersonateAccount(false);
  await assert.rejects(send());
});

test("a block is made for a transaction beside those of the clock with --mixed-mining", async () => {
  await using node = await createNode({ settings: { "consensus.block-time": "1h", "mixed-mining": "true" } });
  assert.equal(await node.getAutomine(), true);
  const [from] = await node.rpc.eth_accounts();
  assert.equal(await statusOf(node, await node.rpc.eth_sendTransaction({ from: from!, to: STRANGER })), "0x1");
});

test("transactions are in a block as they came with --order fifo", async () => {
  const orderOf = async (order: string) => {
    await using node = await createNode({ settings: { "consensus.block-time": "manual", order } });
    const [first, second] = await node.rpc.eth_accounts();
    const send = (from: `0x${string}`, maxPriorityFeePerGas: `0x${string}`) =>
      node.rpc.eth_sendTransaction({ from, to: STRANGER, maxPriorityFeePerGas, maxFeePerGas: "0x77359400" });
    const sent = [await send(first!, "0x1"), await send(second!, "0x2faf080")];
    await node.mine();
    const { transactions } = (await node.rpc.eth_getBlockByNumber("latest", false))!;
    return sent.map((hash) => (transactions as string[]).indexOf(hash));
  };
  assert.deepEqual(await orderOf("fees"), [1, 0]);
  assert.deepEqual(await orderOf("fifo"), [0, 1]);
});

test("block 0 is without the CREATE2 deployer where --create2-deployer says so", async () => {
  await using node = await start({ "create2-deployer": "false" });
  assert.equal(await node.rpc.eth_getCode("0x4e59b44847b379578588920ca78fbf26c0b4956c"), "0x");
});

test("the calls of a transaction are in the log with --print-traces", async () => {
  const lines: string[] = [];
  const write = (message: string, data?: object) => void lines.push(message, ...Object.values(data ?? {}).map(String));
  const log = { error: write, warn: write, info: write, debug() {}, trace() {}, enabled: () => true, child: () => log };
  const node = await createNode({ settings: { "print-traces": "true" }, log });
  const [from] = await node.rpc.eth_accounts();
  // Calls the identity precompile.
  const caller = deploymentOf("0x60006000600060006000600461fffff100");
  const hash = await node.rpc.eth_sendTransaction({ from: from!, data: caller });
  const { contractAddress } = (await node.rpc.eth_getTransactionReceipt(hash))!;
  await node.rpc.eth_sendTransaction({ from: from!, to: contractAddress!, gas: "0x20000" });
  const isTold = () => lines.some((line) => line.includes("0x0000000000000000000000000000000000000004.0x"));
  await until(isTold, "the lines of the call");
  await node.stop();
});

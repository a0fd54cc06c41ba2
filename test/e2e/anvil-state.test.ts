/** Chains in files: what anvil 1.7.1 dumped is loaded with its blocks, and what is dumped here is loaded by anvil. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { foundryBinary, startAnvil } from "../../bench/support/peers.ts";
import { createNode, type EvmintNode } from "../../src/index.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-anvil-state-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `anvil_dumpState` of anvil 1.7.1 after ten blocks with transactions of every type, two of them impersonated, and a balance set after the last. */
const FILE = fileURLToPath(new URL("../sessions/recordings/anvil-1.7.1.state.gz", import.meta.url));
const DUMP = readFileSync(FILE);
const HEAD = 9;
const [OWNER, IMPERSONATED] = [
  "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
  "0x00000000000000000000000000000000000000aa",
] as const;
const [STRANGER, TOKEN] = [
  "0x00000000000000000000000000000000000000cc",
  "0x5fbdb2315678afecb367f032d93f642f64180aa3",
] as const;

/** What anvil answered before it was dumped: block, hash, sender, type, status, gas, logs, contract, price. */
const MINED = [
  [1, "0xc49212e46e89b66c49422166d1e4e36916693a9941a488cb2d26c4345eab73df", OWNER, 2, 1, 0x13146, 1, TOKEN, 0x77359400],
  [1, "0x6124ad827e5a6b2aa0a739dfd38c77cdad8cf4f12c787b82a33f70e6097019f1", OWNER, 0, 1, 0x5208, 0, null, 0x77359400],
  [2, "0xf0c855cc6f4536f15dbbc8595e46f9b1131a12a82a39fadd72bacf4916b1bd2b", OWNER, 1, 1, 0x62d4, 0, null, 0x77359400],
  [
    3,
    "0xc0faa2f3cdf184912be17c48b1c2a08bce77770a4cbe4aa126c8ddfb75633995",
    IMPERSONATED,
    0,
    1,
    0x5208,
    0,
    null,
    0x77359400,
  ],
  [
    4,
    "0x47c3fece53e37e9327ea168a1b39177a04d6d3368ee73b9604c30fcf2f350792",
    IMPERSONATED,
    2,
    1,
    0xd078,
    0,
    "0xccec344d9d8246c8d06d99ccefc856bfa17e0526",
    0x6397268d,
  ],
  [
    5,
    "0x585067f6ad24d1e0349677a61cbda528efe85ce9f842b11d1167725a621a3451",
    OWNER,
    2,
    0,
    0xcf48,
    0,
    "0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9",
    0x5e9c2869,
  ],
  [6, "0xc97e5d0a321828cdc7f31e3171cd051aa4718e5d41e66e54af8081dadc5e12ad", OWNER, 3, 1, 0x5208, 0, null, 0x5a3ff311],
  [7, "0x3cf5c07b14a22bc8ccf7d78f542694588dd0961039bf46f5ef8a78bfe3092dd0", OWNER, 4, 1, 0x8fc0, 0, null, 0x566cad66],
] as const;

const BLOCK_HASHES = [
  "0xa9ba69dcf4e4139f141910247fa85c7ea606c9d7de8e76e85d42f9439bd533a6",
  "0xa47a3dfecdd47a2838ef52d4b2e286755e5b88a0124504781445aa7bd60b11bb",
  "0x1ec3ff67304ac95712e3909402db89bb6bcda22196b996245563ec25cd11b39c",
  "0x7c1f2f64c7b975929aa6a003098dd4c26e883a9fbc441ee5fecacc6e6c107940",
  "0x729f6a76911af1f316312f70943bb5210467c37f24dd6f5fb0aca97ece75c8e4",
  "0x0cc442a7158575b1d2a88f321e469a1c1c46df59ef147f3075db17e54e5ef762",
  "0x1f77a046931a777fbdc3732d54d09b4818a46ed79050302b62c37d412cf8584a",
  "0x8311bf39753fbd517b5fcb2e0f1bfab23ab75bf1db2bc0b9b46ce697650caba0",
  "0xf87b4cc892aebc8d4133b22496d1ae6d64ccdbf6853c1f267068ddaf1c0d9420",
  "0x69e42d23927c3502afae0b342eb870564921c1706b6d4882242ac1cc2422310e",
] as const;

type Request = (method: string, params: readonly unknown[]) => Promise<unknown>;
type Members = { readonly [name: string]: unknown };

const hex = (value: number) => `0x${value.toString(16)}`;
const requestOf =
  (node: EvmintNode): Request =>
  (method, params) =>
    node.provider.request({ method, params }) as Promise<unknown>;

/** All that anvil answered of its blocks, transactions, receipts and logs, and the state after the last. */
async function assertLoaded(request: Request): Promise<void> {
  for (const [number, hash] of BLOCK_HASHES.entries()) {
    const block = (await request("eth_getBlockByNumber", [hex(number), false])) as Members;
    const wanted = MINED.filter(([at]) => at === number).map(([, transaction]) => transaction);
    assert.deepEqual([block["hash"], block["transactions"]], [hash, wanted]);
  }
  for (const [number, hash, from, type, status, gasUsed, logs, contract, price] of MINED) {
    const tx = (await request("eth_getTransactionByHash", [hash])) as Members;
    assert.deepEqual([tx["blockNumber"], tx["from"], tx["type"], tx["hash"]], [hex(number), from, hex(type), hash]);
    const receipt = (await request("eth_getTransactionReceipt", [hash])) as Members & { logs: readonly unknown[] };
    assert.deepEqual(
      [receipt["status"], receipt["gasUsed"], receipt.logs.length, receipt["contractAddress"]],
      [hex(status), hex(gasUsed), logs, contract],
    );
    assert.equal(receipt["effectiveGasPrice"], hex(price));
    if (type === 3) assert.deepEqual([receipt["blobGasUsed"], receipt["blobGasPrice"]], ["0x20000", "0x1"]);
  }
  const logs = (await request("eth_getLogs", [{ fromBlock: "0x0", address: TOKEN }])) as Members[];
  assert.deepEqual([logs.length, logs[0]?.["blockNumber"], logs[0]?.["transactionHash"]], [1, "0x1", MINED[0][1]]);
  const filter = await request("eth_newFilter", [{ fromBlock: "0x0", toBlock: "0x5" }]);
  assert.equal(((await request("eth_getFilterLogs", [filter])) as unknown[]).length, 1);
  assert.equal(await request("eth_getBalance", [IMPERSONATED, "latest"]), "0x1234");
}

async function assertContinues(request: Request): Promise<void> {
  const head = Number(await request("eth_blockNumber", []));
  const nonce = await request("eth_getTransactionCount", [OWNER, "latest"]);
  const hash = await request("eth_sendTransaction", [{ from: OWNER, to: STRANGER, value: "0x1" }]);
  // anvil makes the block after its answer.
  await until(async () => (await request("eth_getTransactionReceipt", [hash])) !== null, "a receipt");
  const receipt = (await request("eth_getTransactionReceipt", [hash])) as Members;
  assert.deepEqual([receipt["blockNumber"], receipt["status"]], [hex(head + 1), "0x1"]);
  const parent = (await request("eth_getBlockByNumber", [hex(head), false])) as Members;
  const block = (await request("eth_getBlockByNumber", [hex(head + 1), false])) as Members;
  assert.equal(block["parentHash"], parent["hash"]);
  assert.equal(await request("eth_getTransactionCount", [OWNER, "latest"]), hex(Number(nonce) + 1));
}

test("--load-state takes blocks, transactions, receipts and logs of anvil's file, and the chain goes on after them", async () => {
  await using node = await createNode({ settings: { "load-state": FILE } });
  const request = requestOf(node);
  assert.equal(await request("eth_blockNumber", []), hex(HEAD));
  await assertLoaded(request);
  // OWNER is delegated to by block 7: only plain transfers are possible, as in anvil.
  await assertContinues(request);
  await assertLoaded(request);
  assert.equal(((await request("eth_getProof", [STRANGER, [], "latest"])) as Members)["balance"], "0x1");
});

test("states before the newest loaded block are not available, and nothing goes back behind it", async () => {
  await using node = await createNode({ settings: { "load-state": FILE } });
  const request = requestOf(node);
  await request("anvil_mine", ["0x2"]);
  for (const [method, params] of [
    ["eth_getBalance", [OWNER, "0x8"]],
    ["eth_call", [{ to: TOKEN }, "0x1"]],
    ["eth_getProof", [OWNER, [], "0x0"]],
    ["debug_traceTransaction", [MINED[0][1]]],
    ["anvil_rollback", ["0x3"]],
  ] as const) {
    await assert.rejects(request(method, params), {
      code: -32000,
      message: /historical state [0-9a-f]{64} is not available/,
    });
  }
  assert.equal(await request("eth_getBalance", [IMPERSONATED, "0x9"]), "0x1234");
  await request("anvil_rollback", ["0x2"]);
  assert.equal(await request("eth_blockNumber", []), hex(HEAD));
  await assertLoaded(request);
});

test("a home with a loaded chain opens again, with a new index too, and a reset begins a chain of its own", async () => {
  const home = join(folder, "home");
  const first = await createNode({ home, settings: { "load-state": FILE } });
  await assertContinues(requestOf(first));
  await first.stop();
  for (const withoutIndex of [false, true]) {
    if (withoutIndex) rmSync(join(home, "data", "index"), { recursive: true });
    const node = await createNode({ home, dev: true, settings: { "load-state": FILE } });
    assert.equal(Number(await node.rpc.eth_blockNumber()), HEAD + 1 + Number(withoutIndex));
    await assertLoaded(requestOf(node));
    await assertContinues(requestOf(node));
    await node.stop();
  }
  const last = await createNode({ home, dev: true });
  await last.rpc.anvil_reset();
  assert.equal(await last.rpc.eth_blockNumber(), "0x0");
  assert.equal(await last.rpc.eth_getTransactionByHash(MINED[0][1]), null);
  assert.equal(await last.rpc.eth_getBalance(OWNER, "0x0"), "0x21e19e0c9bab2400000");
  await last.stop();
});

test("a load that a kill interrupted is done at the next start, whatever the data folder has", async () => {
  const home = join(folder, "killed");
  const first = await createNode({ home });
  first.produceBlock();
  await first.stop();
  writeFileSync(join(home, "config", "loading-state"), DUMP);
  const second = await createNode({ home, dev: true });
  await assertLoaded(requestOf(second));
  assert.equal(existsSync(join(home, "config", "loading-state")), false);
  await second.stop();
});

test("anvil_loadState replaces the blocks of a running chain and adds to its accounts, in memory and in a home", async () => {
  for (const home of [undefined, join(folder, "running")]) {
    await using node = await createNode(home === undefined ? {} : { home });
    const request = requestOf(node);
    await request("anvil_mine", ["0xc"]);
    await request("anvil_setBalance", [STRANGER, "0x7"]);
    await request("anvil_setNonce", [OWNER, "0x20"]);
    await request("anvil_setStorageAt", [TOKEN, hex(5), `0x${"6".padStart(64, "0")}`]);
    assert.equal(await request("anvil_loadState", [`0x${DUMP.toString("hex")}`]), true);
    assert.equal(await request("eth_blockNumber", []), hex(HEAD));
    await assertLoaded(request);
    assert.equal(await request("eth_getBalance", [STRANGER, "latest"]), "0x7");
    assert.equal(await request("eth_getTransactionCount", [OWNER, "latest"]), "0x20");
    assert.equal(Number(await request("eth_getStorageAt", [TOKEN, "0x5", "latest"])), 6);
    assert.equal(Number(await request("eth_getStorageAt", [TOKEN, "0x0", "latest"])), 42);
    await assertContinues(request);
    if (home !== undefined) {
      await node.stop();
      await using again = await createNode({ home, dev: true });
      await assertLoaded(requestOf(again));
      assert.equal(await again.rpc.eth_blockNumber(), hex(HEAD + 1));
    }
  }
});

test("anvil_dumpState into another node, and back into the same one, has the same blocks", async () => {
  await using first = await createNode({ settings: { "load-state": FILE } });
  const request = requestOf(first);
  await assertContinues(request);
  const dump = await request("anvil_dumpState", []);
  const head = (await request("eth_getBlockByNumber", ["latest", true])) as Members;
  await using second = await createNode();
  await second.rpc.anvil_loadState(dump as `0x${string}`);
  await assertLoaded(requestOf(second));
  assert.deepEqual(await requestOf(second)("eth_getBlockByNumber", ["latest", true]), head);
  // The chain has that block itself: it goes back to it, and older states stay.
  await request("anvil_mine", ["0x3"]);
  await request("anvil_loadState", [dump]);
  assert.deepEqual(await request("eth_getBlockByNumber", ["latest", true]), head);
  assert.equal(await request("eth_getBalance", [STRANGER, hex(HEAD)]), "0x0");
  await assertContinues(request);
});

test("a dump that is not whole is refused by the place of its fault, and nothing changes", async () => {
  const text = gunzipSync(DUMP).toString();
  type Dump = { best_block_number: number; blocks: Block[]; transactions: Included[] };
  type Block = { header: Record<string, unknown>; transactions: { transaction: Record<string, unknown> }[] };
  type Included = { info: Record<string, unknown>; receipt: Record<string, unknown> };
  const faults: readonly (readonly [string, (dump: Dump) => void])[] = [
    ["best_block_number", (dump) => (dump.best_block_number = 77)],
    ["best_block_number", (dump) => (dump.best_block_number = -1)],
    ["blocks.0.header.stateRoot", (dump) => (dump.blocks[0]!.header["stateRoot"] = "0x12")],
    ["blocks.1.header.number", (dump) => delete dump.blocks[1]!.header["number"]],
    ["blocks", (dump) => ((dump as Members & { blocks: unknown }).blocks = {})],
    ["transactions", (dump) => ((dump as Members & { transactions: unknown }).transactions = 5)],
    ["transactions.0.receipt.status", (dump) => (dump.transactions[0]!.receipt["status"] = "0x2")],
    ["transactions.1.receipt.logs", (dump) => (dump.transactions[1]!.receipt["logs"] = null)],
    [
      "transactions.0.info.transaction_hash",
      (dump) => (dump.transactions[0]!.info["transaction_hash"] = BLOCK_HASHES[0]),
    ],
    ["blocks.N.transactions.0", (dump) => dump.transactions.splice(0)],
    ["blocks.N.transactions.0.transaction.hash", (dump) => (withTransaction(dump).transaction["value"] = "0x2")],
    ["blocks.N.transactions.0.transaction.type", (dump) => (withTransaction(dump).transaction["type"] = "0x7e")],
  ];
  const withTransaction = (dump: Dump) =>
    dump.blocks.find(({ transactions }) => transactions.length > 0)!.transactions[0]!;
  await using node = await createNode();
  await node.rpc.anvil_mine("0x2");
  const before = await node.rpc.eth_getBlockByNumber("latest", false);
  mkdirSync(folder, { recursive: true });
  for (const [place, spoil] of faults) {
    const dump: Dump = JSON.parse(text);
    spoil(dump);
    const bytes = gzipSync(JSON.stringify(dump));
    const pattern = new RegExp(`(?:^|: )${place.replaceAll(".", "\\.").replace("N", "\\d+")} of the state is not `);
    await assert.rejects(node.rpc.anvil_loadState(`0x${bytes.toString("hex")}`), { message: pattern }, place);
    const file = join(folder, "spoiled");
    writeFileSync(file, bytes);
    await assert.rejects(createNode({ settings: { "load-state": file } }), (error: NodeJS.ErrnoException) => {
      assert.equal(error.code, "CONFIG_INVALID");
      return error.message.includes(file) && pattern.test(error.message);
    });
  }
  assert.deepEqual(await node.rpc.eth_getBlockByNumber("latest", false), before);
});

test("anvil loads what is dumped here, and what it dumps then is loaded here", {
  skip: foundryBinary("anvil") === undefined && "left out: no anvil",
}, async () => {
  await using node = await createNode({ settings: { "load-state": FILE } });
  const request = requestOf(node);
  await request("anvil_impersonateAccount", [STRANGER]);
  await request("anvil_setBalance", [STRANGER, "0xde0b6b3a7640000"]);
  const own = await request("eth_sendTransaction", [{ from: STRANGER, to: OWNER, value: "0x1" }]);
  const state = join(folder, "for-anvil.json");
  writeFileSync(state, gunzipSync(Buffer.from(String(await request("anvil_dumpState", [])).slice(2), "hex")));
  const anvil = await startAnvil({ extraArguments: ["--load-state", state] });
  assert.ok(anvil);
  try {
    const ask: Request = async (method, params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const response = await fetch(`http://127.0.0.1:${anvil.port}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
      assert.equal(error, undefined, method);
      return result;
    };
    await assertLoaded(ask);
    const receipt = (await ask("eth_getTransactionReceipt", [own])) as Members;
    assert.deepEqual([receipt["blockNumber"], receipt["from"], receipt["status"]], [hex(HEAD + 1), STRANGER, "0x1"]);
    await assertContinues(ask);
    const back = await ask("anvil_dumpState", []);
    await using last = await createNode();
    await last.rpc.anvil_loadState(back as `0x${string}`);
    await assertLoaded(requestOf(last));
    assert.equal(await last.rpc.eth_blockNumber(), hex(HEAD + 2));
    const theirs = (await ask("eth_getBlockByNumber", ["latest", false])) as Members;
    const ours = (await requestOf(last)("eth_getBlockByNumber", ["latest", false])) as Members;
    assert.equal(ours["hash"], theirs["hash"]);
    assert.equal((await last.rpc.eth_getTransactionByHash(own as `0x${string}`))?.from, STRANGER);
  } finally {
    await anvil.stop();
  }
});

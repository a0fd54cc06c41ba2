import { PROGRAMS } from "../programs.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";

const TAGS = ["latest", "earliest", "safe", "finalized"];
const UNKNOWN_HASH = `0x${"5a".repeat(32)}`;
const NUMBER_JUNK = [
  null,
  "",
  "0x",
  "0x00",
  "0x01",
  "1",
  1,
  true,
  [],
  {},
  "Latest",
  "latest ",
  "0xg",
  "-0x1",
  "0x7fffffffffffffff",
  "0x8000000000000000",
  "0xffffffffffffffffff",
  "0X1",
  1.5,
  "0x1 ",
];
const ADDRESS_JUNK = [null, "", "0x", "0x12", 5, {}, [], `0x${"zz".repeat(20)}`, "11".repeat(20)];
const HASH_JUNK = [null, "", "0x", "0x12", 5, {}, [], `0x${"zz".repeat(32)}`, `0x${"11".repeat(33)}`];

/** Every method that only reads the chain, with good, boundary and wrong parameters. */
export function* readCases(chain: ChainFacts): Generator<DifferentialCase> {
  const { head, blocks, sender } = chain;
  const beyond = `0x${(head + 5).toString(16)}`;
  const numbers = [...blocks.map(({ number }) => number), ...TAGS, beyond];
  const one = (method: string, ...params: unknown[]) => ({ name: "read", method, params });
  const junk = (method: string, ...params: unknown[]) => ({ name: "junk", method, params });

  for (const method of [
    "eth_blockNumber",
    "eth_chainId",
    "eth_syncing",
    "eth_accounts",
    "net_version",
    "net_listening",
    "eth_blobBaseFee",
    "eth_baseFee",
    "eth_config",
    "eth_gasPrice",
    "eth_maxPriorityFeePerGas",
    "txpool_status",
    "txpool_content",
    "txpool_inspect",
    "eth_pendingTransactions",
  ]) {
    yield one(method);
    yield junk(method, 1);
    yield junk(method, null, null);
  }
  for (const number of numbers) {
    for (const full of [true, false]) yield one("eth_getBlockByNumber", number, full);
    for (const method of [
      "eth_getHeaderByNumber",
      "eth_getBlockReceipts",
      "eth_getBlockTransactionCountByNumber",
      "debug_getRawBlock",
      "debug_getRawHeader",
      "debug_getRawReceipts",
      "eth_getUncleCountByBlockNumber",
    ]) {
      yield one(method, number);
    }
    for (const index of ["0x0", "0x1", "0x500"]) {
      yield one("eth_getTransactionByBlockNumberAndIndex", number, index);
      yield one("eth_getRawTransactionByBlockNumberAndIndex", number, index);
      yield one("eth_getUncleByBlockNumberAndIndex", number, index);
    }
  }
  for (const hash of [...blocks.map((block) => block.hash), UNKNOWN_HASH]) {
    for (const full of [true, false]) yield one("eth_getBlockByHash", hash, full);
    for (const method of [
      "eth_getHeaderByHash",
      "eth_getBlockReceipts",
      "eth_getBlockTransactionCountByHash",
      "debug_getRawBlock",
      "debug_getRawHeader",
      "debug_getRawReceipts",
      "eth_getUncleCountByBlockHash",
    ]) {
      yield one(method, hash);
    }
    for (const blockHash of [hash]) {
      yield one("eth_getLogs", { blockHash });
      yield one("eth_getBalance", sender, { blockHash, requireCanonical: true });
      yield one("eth_getTransactionByBlockHashAndIndex", blockHash, "0x0");
      yield one("eth_getRawTransactionByBlockHashAndIndex", blockHash, "0x1");
    }
  }
  for (const { transactions } of blocks) {
    for (const hash of transactions) {
      yield one("eth_getTransactionByHash", hash);
      yield one("eth_getTransactionReceipt", hash);
      yield one("eth_getRawTransactionByHash", hash);
      yield one("debug_getRawTransaction", hash);
    }
  }
  const holders = [sender, ...PROGRAMS.slice(0, 40).map(({ address }) => address), `0x${"77".repeat(20)}`];
  for (const address of holders) {
    for (const at of ["latest", "earliest", "0x3", beyond]) {
      yield one("eth_getBalance", address, at);
      yield one("eth_getCode", address, at);
      yield one("eth_getTransactionCount", address, at);
      yield one("eth_getStorageAt", address, "0x1", at);
    }
    yield one("eth_getProof", address, ["0x1", `0x${"00".repeat(31)}09`], "latest");
    yield one("eth_getProof", address, [], "0x2");
    yield one("eth_getStorageValues", { [address]: [`0x${"00".repeat(31)}01`] }, "latest");
  }
  for (const key of [
    "",
    "0x",
    "1",
    "0x0",
    "0x01",
    "0xzz",
    "0x123",
    "1".repeat(65),
    `0x${"0".repeat(65)}`,
    null,
    5,
    {},
  ]) {
    yield junk("eth_getStorageAt", sender, key, "latest");
    yield junk("eth_getProof", sender, [key], "latest");
    yield junk("eth_getStorageValues", { [sender]: [key] }, "latest");
  }
  for (const keys of [null, "0x1", {}, new Array(1025).fill("0x1")]) {
    yield junk("eth_getProof", sender, keys, "latest");
    yield junk("eth_getStorageValues", { [sender]: keys }, "latest");
    yield junk("eth_getStorageValues", keys, "latest");
  }
  for (const bad of NUMBER_JUNK) {
    for (const method of [
      "eth_getHeaderByNumber",
      "eth_getBlockReceipts",
      "eth_getBlockTransactionCountByNumber",
      "debug_getRawBlock",
      "debug_getRawHeader",
      "debug_getRawReceipts",
      "debug_traceBlockByNumber",
      "eth_getUncleCountByBlockNumber",
    ]) {
      yield junk(method, bad);
    }
    yield junk("eth_getBlockByNumber", bad, false);
    yield junk("eth_getBlockByNumber", "latest", bad);
    yield junk("eth_getBlockByHash", UNKNOWN_HASH, bad);
    yield junk("eth_getTransactionByBlockNumberAndIndex", "latest", bad);
    yield junk("eth_getTransactionByBlockNumberAndIndex", bad, "0x0");
    yield junk("eth_getBalance", sender, bad);
    yield junk("eth_getCode", sender, bad);
    yield junk("eth_call", { to: sender }, bad);
    yield junk("eth_getBalance", sender, { blockNumber: bad });
    yield junk("eth_getBalance", sender, { blockHash: bad });
    yield junk("eth_getBalance", sender, { blockNumber: "0x1", blockHash: bad });
  }
  for (const bad of ADDRESS_JUNK) {
    for (const method of ["eth_getBalance", "eth_getCode", "eth_getTransactionCount"]) {
      yield junk(method, bad, "latest");
    }
    yield junk("eth_getStorageAt", bad, "0x0", "latest");
    yield junk("eth_getProof", bad, [], "latest");
  }
  for (const bad of HASH_JUNK) {
    for (const method of [
      "eth_getTransactionByHash",
      "eth_getTransactionReceipt",
      "eth_getRawTransactionByHash",
      "eth_getHeaderByHash",
      "eth_getBlockTransactionCountByHash",
      "debug_traceBlockByHash",
      "debug_traceTransaction",
      "debug_getRawTransaction",
      "eth_getUncleCountByBlockHash",
    ]) {
      yield junk(method, bad);
      yield junk(method);
    }
  }
  yield* feeCases(head);
  yield* logCases(chain);
}

function* feeCases(head: number): Generator<DifferentialCase> {
  const of = (...params: unknown[]) => ({ name: "fees", method: "eth_feeHistory", params });
  const last = `0x${head.toString(16)}`;
  for (const count of [
    "0x0",
    "0x1",
    "0x5",
    "0x400",
    "0x401",
    3,
    "3",
    "0x",
    "",
    null,
    -1,
    1.5,
    "abc",
    "0x01",
    {},
    [],
    true,
    "0xffffffffffffffffff",
    "1e3",
    " 5",
    "05",
  ]) {
    for (const newest of ["latest", last]) yield of(count, newest, []);
    yield of(count, "0x2", [50]);
  }
  for (const newest of ["earliest", "safe", "finalized", "0x0", "0x1", "0x7fffffff", "0x", null, 1, "foo"]) {
    yield of("0x3", newest, [0, 25, 50, 99.9, 100]);
  }
  for (const percentiles of [
    null,
    [],
    [50, 40],
    [-1],
    [101],
    ["50"],
    [null],
    "x",
    {},
    [0, 0],
    [1e-9, 50],
    [100.000001],
    new Array(101).fill(0).map((_, i) => i * 0.9),
    5,
    [true],
    [NaN],
  ]) {
    yield of("0x4", last, percentiles);
  }
  yield of("0x4", last);
  yield of("0x4");
  yield of();
  yield of("0x400", last, [0, 10, 50, 90, 100]);
}

function* logCases({ head, sender, blocks }: ChainFacts): Generator<DifferentialCase> {
  const of = (...params: unknown[]) => ({ name: "logs", method: "eth_getLogs", params });
  const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
  const last = `0x${head.toString(16)}`;
  const all = { fromBlock: "0x0", toBlock: "latest" };
  const hash = blocks[2]!.hash;
  for (const more of [
    {},
    { topics: [transfer] },
    { topics: [[transfer, UNKNOWN_HASH]] },
    { topics: [null, null] },
    { topics: [[], transfer] },
    { topics: [null, null, null, null] },
    { topics: [null, null, null, null, null] },
    { topics: [[null]] },
    { topics: "x" },
    { topics: [1] },
    { topics: ["0x12"] },
    { topics: [["0x12"]] },
    { topics: [[1]] },
    { address: sender },
    { address: [sender, sender] },
    { address: [] },
    { address: null },
    { address: "0x12" },
    { address: ["0x12"] },
    { address: [5] },
    { address: 5 },
    { address: {} },
    { address: new Array(1001).fill(sender) },
    { topics: [new Array(1001).fill(transfer)] },
    { address: PROGRAMS.map(({ address }) => address) },
  ]) {
    yield of({ ...all, ...more });
    yield of({ blockHash: hash, ...more });
  }
  for (const range of [
    { fromBlock: "0x1" },
    { toBlock: "0x1" },
    { fromBlock: "0x5", toBlock: "0x2" },
    { fromBlock: "0x1", toBlock: "0xffff" },
    { fromBlock: "0xffff", toBlock: "0xfffff" },
    { fromBlock: "pending" },
    { toBlock: "pending" },
    { fromBlock: "safe", toBlock: "finalized" },
    { fromBlock: "latest", toBlock: "0x1" },
    { fromBlock: "earliest", toBlock: last },
    { fromBlock: "0x0", toBlock: "0x0" },
    { blockHash: hash, fromBlock: "0x1" },
    { blockHash: null, fromBlock: "0x1" },
    { blockHash: "0x1" },
    { fromBlock: 1 },
    { fromBlock: "x" },
    { fromBlock: null, toBlock: null },
    null,
    [],
    "x",
    5,
  ]) {
    yield of(range);
  }
  yield of();
}

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { METHODS } from "../../src/rpc/methods/methods.ts";

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");

/** The exported methods of geth 1.17.10 over HTTP, by namespace. */
const GETH: Readonly<Record<string, string>> = {
  admin:
    "addPeer addTrustedPeer datadir exportChain importChain nodeInfo peerEvents peers removePeer removeTrustedPeer startHTTP startRPC " +
    "startWS stopHTTP stopRPC stopWS",
  debug:
    "accountRange blockProfile chaindbCompact chaindbProperty clearTxpool cpuProfile dbAncient dbAncients dbGet discoveryV4Table " +
    "dumpBlock executionWitness freeOSMemory gcStats getAccessibleState getBadBlocks getModifiedAccountsByHash " +
    "getModifiedAccountsByNumber getRawBlock getRawHeader getRawReceipts getRawTransaction getTrieFlushInterval goTrace " +
    "intermediateRoots memStats mutexProfile preimage printBlock replayBadBlock setBlockProfileRate setGCPercent setHead " +
    "setMemoryLimit setMutexProfileFraction setTrieFlushInterval stacks standardTraceBadBlockToFile standardTraceBlockToFile " +
    "startCPUProfile startGoTrace stopCPUProfile stopGoTrace storageRangeAt traceBadBlock traceBlock traceBlockByHash " +
    "traceBlockByNumber traceBlockFromFile traceCall traceTransaction verbosity vmodule writeBlockProfile writeMemProfile " +
    "writeMutexProfile",
  eth:
    "accounts baseFee blobBaseFee blockNumber call capabilities chainId config createAccessList estimateGas feeHistory fillTransaction " +
    "gasPrice getBalance getBlockByHash getBlockByNumber getBlockReceipts getBlockTransactionCountByHash " +
    "getBlockTransactionCountByNumber getCode getFilterChanges getFilterLogs getHeaderByHash getHeaderByNumber getLogs getProof " +
    "getRawTransactionByBlockHashAndIndex getRawTransactionByBlockNumberAndIndex getRawTransactionByHash getStorageAt " +
    "getStorageValues getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionByHash " +
    "getTransactionCount getTransactionReceipt getUncleByBlockHashAndIndex getUncleByBlockNumberAndIndex getUncleCountByBlockHash " +
    "getUncleCountByBlockNumber maxPriorityFeePerGas newBlockFilter newFilter newPendingTransactionFilter pendingTransactions " +
    "resend sendRawTransaction sendRawTransactionSync sendTransaction sign signTransaction simulateV1 subscribe syncing " +
    "uninstallFilter unsubscribe",
  miner: "setExtra setGasLimit setGasPrice",
  net: "listening peerCount version",
  txpool: "content contentFrom inspect status",
  web3: "clientVersion sha3",
};

test("every method of geth is here, or the page about compliance says that it is not", () => {
  const own = new Set(METHODS.map(({ name }) => name));
  const compliance = page("compliance.md");
  const missing = Object.entries(GETH)
    .flatMap(([namespace, names]) => names.split(" ").map((name) => `${namespace}_${name}`))
    .filter((name) => !own.has(name));
  assert.deepEqual(missing, ["admin_peerEvents", "debug_replayBadBlock"]);
  for (const name of missing) assert.ok(compliance.includes(`\`${name}\``), name);
});

test("each field report has a state, and a test that is there", () => {
  const rows = page("field-reports.md")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (?:report|what) \|/.test(line));
  assert.ok(rows.length > 100, String(rows.length));
  for (const row of rows) {
    const [, , kind = "", state = "", guard = ""] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
    assert.notEqual(kind, "", row);
    assert.match(state, /^(?:mended|deliberate|fine|open)\b/, row);
    const [, path = ""] = /^`([^`]+)`$/.exec(guard) ?? [];
    assert.ok(/\.test\.ts$|^test\/fuzz\/geth-evm\.ts$/.test(path) && existsSync(path), row);
  }
});

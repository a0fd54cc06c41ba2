import { type Hex, hexToBytes } from "../../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../../src/base/primitives/keccak.ts";
import { PROGRAMS } from "../programs.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";

const UNKNOWN_HASH = `0x${"5a".repeat(32)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;

/** The methods of `debug` that look into the chain and the state. */
export function* inspectionCases({ head, blocks, sender }: ChainFacts): Generator<DifferentialCase> {
  const of = (method: string, ...params: unknown[]) => ({ name: "inspection", method, params });
  const storing = PROGRAMS.filter(({ name }) => /^(sstore|token|sload)/.test(name));
  for (const { number, hash, transactions } of blocks) {
    yield of("debug_dumpBlock", number);
    for (const options of [
      ["0x", 5, false, false, false],
      ["0x", 300, true, true, false],
      [`0x80${"00".repeat(31)}`, 2, true, false, false],
      ["0x40", 1, false, true, true],
    ]) {
      yield of("debug_accountRange", number, ...options);
    }
    yield of("debug_accountRange", hash, "0x", 3, true, true, false);
    yield of("debug_getModifiedAccountsByNumber", Number(number));
    yield of("debug_getModifiedAccountsByNumber", Number(number), head);
    yield of("debug_getModifiedAccountsByHash", hash);
    yield of("debug_getModifiedAccountsByHash", blocks[0]!.hash, hash);
    yield of("debug_intermediateRoots", hash);
    yield of("debug_executionWitness", number);
    yield of("debug_executionWitnessByHash", hash);
    yield of("debug_dbAncient", "hashes", Number(number));
    yield of("debug_dbAncient", "headers", Number(number));
    yield of("debug_dbAncient", "bodies", Number(number));
    yield of("debug_dbAncient", "receipts", Number(number));
    yield of("debug_standardTraceBlockToFile", hash);
    yield of("debug_standardTraceBlockToFile", hash, { disableMemory: true, disableStack: true });
    for (const { address } of storing) {
      yield of("debug_storageRangeAt", hash, 0, address, "0x", 2);
      yield of("debug_storageRangeAt", hash, transactions.length, address, word(0), 100);
    }
    for (const method of ["debug_getRawBlock", "debug_getRawHeader", "debug_getRawReceipts"]) {
      yield of(method, number);
    }
  }
  yield* wrongCases({ sender, blocks, head });
}

function* wrongCases({ sender, blocks, head }: Omit<ChainFacts, "chainId">): Generator<DifferentialCase> {
  const of = (method: string, ...params: unknown[]) => ({ name: "inspection", method, params });
  const { hash } = blocks[1]!;
  for (const block of ["latest", "pending", "0xffff", UNKNOWN_HASH, null]) {
    yield of("debug_dumpBlock", block);
    yield of("debug_accountRange", block, "0x", 1, true, true, false);
    yield of("debug_storageRangeAt", block, 0, sender, "0x", 1);
  }
  for (const count of [-1, 0, 257, "1", null, 1.5]) {
    yield of("debug_accountRange", "0x1", "0x", count, true, true, false);
    yield of("debug_storageRangeAt", hash, 0, sender, "0x", count);
    yield of("debug_storageRangeAt", hash, count, sender, "0x", 1);
  }
  for (const start of [null, "x", "0x1", `0x${"11".repeat(33)}`]) {
    yield of("debug_accountRange", "0x1", start, 1, true, true, false);
    yield of("debug_storageRangeAt", hash, 0, sender, start, 1);
  }
  for (const [first, last] of [
    [0, 0],
    [1, 1],
    [2, 1],
    [head + 1, head + 2],
    [0, head + 1],
    [-1, 1],
    ["1", "2"],
  ]) {
    yield of("debug_getModifiedAccountsByNumber", first, last);
  }
  yield of("debug_getModifiedAccountsByNumber", 0);
  yield of("debug_getModifiedAccountsByHash", UNKNOWN_HASH);
  yield of("debug_getModifiedAccountsByHash", hash, UNKNOWN_HASH);
  yield of("debug_getModifiedAccountsByHash", hash, blocks[0]!.hash);
  yield of("debug_intermediateRoots", UNKNOWN_HASH);
  yield of("debug_intermediateRoots", blocks[0]!.hash);
  yield of("debug_standardTraceBlockToFile", UNKNOWN_HASH);
  yield of("debug_standardTraceBadBlockToFile", hash);
  yield of("debug_getBadBlocks");
  yield of("debug_traceBadBlock", hash);
  yield of("debug_traceBlockFromFile", "missing.rlp");
  yield of("debug_dbGet", "0x123456");
  for (const kind of ["hashes", "headers", "bodies", "receipts", "nothing"]) {
    yield of("debug_dbAncient", kind, head + 1);
  }
  for (const [from, to] of [
    ["0x1", "0x4"],
    ["0x4", "0x1"],
    ["latest", "earliest"],
    ["0xffff", "0x1"],
  ]) {
    yield of("debug_getAccessibleState", from, to);
  }
  yield of("debug_preimage", UNKNOWN_HASH);
  yield of("debug_preimage", keccak256Hash(hexToBytes(sender as Hex)));
  yield of("debug_preimage", keccak256Hash(hexToBytes(word(1) as Hex)));
  yield of("debug_printBlock", head + 1);
  yield of("debug_getRawBlock", "0xffff");
}

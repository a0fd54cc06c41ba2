import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { executionWitness, executionWitnessByHash } from "./execution-witness.ts";
import { getRawBlock } from "./get-raw-block.ts";
import { getRawHeader } from "./get-raw-header.ts";
import { getRawReceipts } from "./get-raw-receipts.ts";
import { getRawTransaction } from "./get-raw-transaction.ts";
import { accountRange } from "./inspect/account-range.ts";
import { chaindbCompact, chaindbProperty } from "./inspect/chaindb.ts";
import { dbAncient, dbAncients } from "./inspect/db-ancient.ts";
import { dbGet } from "./inspect/db-get.ts";
import { dumpBlock } from "./inspect/dump-block.ts";
import { getAccessibleState } from "./inspect/get-accessible-state.ts";
import { getBadBlocks } from "./inspect/get-bad-blocks.ts";
import { getBlockRlp } from "./inspect/get-block-rlp.ts";
import { getHeaderRlp } from "./inspect/get-header-rlp.ts";
import {
  getModifiedAccountsByHash,
  getModifiedAccountsByNumber,
} from "./inspect/get-modified-accounts.ts";
import { preimage } from "./inspect/preimage.ts";
import { printBlock } from "./inspect/print-block.ts";
import { seedHash } from "./inspect/seed-hash.ts";
import { setHead } from "./inspect/set-head.ts";
import { stateSize } from "./inspect/state-size.ts";
import { storageRangeAt } from "./inspect/storage-range-at.ts";
import { getTrieFlushInterval, setTrieFlushInterval } from "./inspect/trie-flush-interval.ts";
import { RUNTIME_METHODS } from "./runtime/methods.ts";
import { intermediateRoots } from "./trace/intermediate-roots.ts";
import {
  standardTraceBadBlockToFile,
  standardTraceBlockToFile,
} from "./trace/standard-trace-to-file.ts";
import { traceBadBlock } from "./trace/trace-bad-block.ts";
import { traceBlockFromFile } from "./trace/trace-block-from-file.ts";
import { debugSubscriptions } from "./trace/trace-chain.ts";
import { traceBlock } from "./trace-block.ts";
import { traceBlockByHash } from "./trace-block-by-hash.ts";
import { traceBlockByNumber } from "./trace-block-by-number.ts";
import { traceCall } from "./trace-call.ts";
import { traceCallMany } from "./trace-call-many.ts";
import { traceTransaction } from "./trace-transaction.ts";

export const DEBUG_METHODS: readonly Method<RpcPorts>[] = [
  getRawBlock,
  getRawHeader,
  getRawReceipts,
  getRawTransaction,
  getBlockRlp,
  getHeaderRlp,
  printBlock,
  seedHash,
  dumpBlock,
  accountRange,
  storageRangeAt,
  getModifiedAccountsByNumber,
  getModifiedAccountsByHash,
  preimage,
  executionWitness,
  executionWitnessByHash,
  traceTransaction,
  traceBlockByNumber,
  traceBlockByHash,
  traceBlock,
  traceCall,
  traceCallMany,
  chaindbCompact,
  chaindbProperty,
  dbAncient,
  dbAncients,
  dbGet,
  getAccessibleState,
  stateSize,
  getBadBlocks,
  setHead,
  getTrieFlushInterval,
  setTrieFlushInterval,
  intermediateRoots,
  standardTraceBadBlockToFile,
  standardTraceBlockToFile,
  traceBadBlock,
  traceBlockFromFile,
  ...debugSubscriptions,
  ...RUNTIME_METHODS,
];

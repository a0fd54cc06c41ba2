import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { getRawBlock } from "./get-raw-block.ts";
import { getRawHeader } from "./get-raw-header.ts";
import { getRawReceipts } from "./get-raw-receipts.ts";
import { getRawTransaction } from "./get-raw-transaction.ts";
import { accountRange } from "./inspect/account-range.ts";
import { dumpBlock } from "./inspect/dump-block.ts";
import { getBlockRlp } from "./inspect/get-block-rlp.ts";
import { getHeaderRlp } from "./inspect/get-header-rlp.ts";
import {
  getModifiedAccountsByHash,
  getModifiedAccountsByNumber,
} from "./inspect/get-modified-accounts.ts";
import { printBlock } from "./inspect/print-block.ts";
import { seedHash } from "./inspect/seed-hash.ts";
import { storageRangeAt } from "./inspect/storage-range-at.ts";
import { RUNTIME_METHODS } from "./runtime/methods.ts";
import { traceBlock } from "./trace-block.ts";
import { traceBlockByHash } from "./trace-block-by-hash.ts";
import { traceBlockByNumber } from "./trace-block-by-number.ts";
import { traceCall } from "./trace-call.ts";
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
  traceTransaction,
  traceBlockByNumber,
  traceBlockByHash,
  traceBlock,
  traceCall,
  ...RUNTIME_METHODS,
];

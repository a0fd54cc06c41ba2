import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { replayBlockTransactions } from "./replay-block-transactions.ts";
import { replayTransaction } from "./replay-transaction.ts";
import { traceBlock } from "./trace-block.ts";
import { traceCall } from "./trace-call.ts";
import { traceCallMany } from "./trace-call-many.ts";
import { traceFilter } from "./trace-filter.ts";
import { traceGet } from "./trace-get.ts";
import { traceRawTransaction } from "./trace-raw-transaction.ts";
import { traceTransaction } from "./trace-transaction.ts";

export const TRACE_METHODS: readonly Method<RpcPorts>[] = [
  replayBlockTransactions,
  replayTransaction,
  traceBlock,
  traceCall,
  traceCallMany,
  traceFilter,
  traceGet,
  traceRawTransaction,
  traceTransaction,
];

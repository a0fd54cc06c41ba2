import type { Method } from "../../transport/dispatch/method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { replayBlockTransactions, traceBlock } from "./blocks.ts";
import { traceCall, traceCallMany } from "./calls.ts";
import { traceFilter } from "./trace-filter.ts";
import { replayTransaction, traceGet, traceRawTransaction, traceTransaction } from "./transactions.ts";

export const TRACE_METHODS: readonly Method<ServingPorts>[] = [
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

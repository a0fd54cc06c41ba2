import type { Method } from "../../transport/dispatch/method.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import { replayBlockTransactions, traceBlock } from "./blocks.ts";
import { traceCall, traceCallMany } from "./calls.ts";
import { traceFilter } from "./trace-filter.ts";
import {
  replayTransaction,
  traceGet,
  traceRawTransaction,
  traceTransaction,
} from "./transactions.ts";

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

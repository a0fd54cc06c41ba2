import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as blocks from "./blocks.ts";
import * as calls from "./calls.ts";
import * as traceFilter from "./trace-filter.ts";
import * as transactions from "./transactions.ts";

export const TRACE_METHODS: readonly Method<ServingPorts>[] = exportedMethods(blocks, calls, traceFilter, transactions);

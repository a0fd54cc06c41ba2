import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { content } from "./content.ts";
import { contentFrom } from "./content-from.ts";
import { inspect } from "./inspect.ts";
import { status } from "./status.ts";

export const TXPOOL_METHODS: readonly Method<RpcPorts>[] = [content, contentFrom, inspect, status];

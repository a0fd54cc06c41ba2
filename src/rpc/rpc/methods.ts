import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { discover } from "./discover.ts";
import { modules } from "./modules.ts";

export const RPC_METHODS: readonly Method<RpcPorts>[] = [modules, discover];

import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { clientVersion } from "./client-version.ts";
import { sha3 } from "./sha3.ts";

export const WEB3_METHODS: readonly Method<RpcPorts>[] = [clientVersion, sha3];

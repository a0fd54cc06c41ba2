import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { listening } from "./listening.ts";
import { peerCount } from "./peer-count.ts";
import { version } from "./version.ts";

export const NET_METHODS: readonly Method<RpcPorts>[] = [version, peerCount, listening];

import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { buildBlockV1 } from "./build-block-v1.ts";
import { commitBlockV1 } from "./commit-block-v1.ts";

export const TESTING_METHODS: readonly Method<RpcPorts>[] = [buildBlockV1, commitBlockV1];

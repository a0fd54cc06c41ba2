import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { getHex } from "./get-hex.ts";
import { getString } from "./get-string.ts";
import { putHex } from "./put-hex.ts";
import { putString } from "./put-string.ts";

export const DB_METHODS: readonly Method<RpcPorts>[] = [putString, getString, putHex, getHex];

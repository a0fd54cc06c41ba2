import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as listeners from "./listeners.ts";
import * as node from "./node.ts";
import * as peers from "./peers.ts";

export const ADMIN_METHODS: readonly Method<ServingPorts>[] = exportedMethods(listeners, node, peers);

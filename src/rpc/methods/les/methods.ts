import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as benchmark from "./benchmark.ts";
import * as checkpoints from "./checkpoints.ts";
import * as clients from "./clients.ts";

export const LES_METHODS: readonly Method<ServingPorts>[] = exportedMethods(benchmark, checkpoints, clients);

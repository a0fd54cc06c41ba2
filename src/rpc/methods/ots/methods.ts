import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as blocks from "./blocks.ts";
import * as search from "./search.ts";
import * as traces from "./traces.ts";

/** Level 8 of the interface of Otterscan. */
export const OTS_METHODS: readonly Method<ServingPorts>[] = exportedMethods(blocks, search, traces);

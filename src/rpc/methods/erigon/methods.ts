import { aliasMethod, type Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import { getBlockReceipts, getHeaderByHash } from "../eth/blocks.ts";
import { getLogs } from "../eth/filters.ts";
import { SAMPLE } from "../example-values.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as blocks from "./blocks.ts";
import * as logs from "./logs.ts";

/** Erigon has other names for some methods of `eth`. */
export const ERIGON_METHODS: readonly Method<ServingPorts>[] = [
  ...exportedMethods(blocks, logs),
  aliasMethod(getHeaderByHash, "erigon_getHeaderByHash"),
  aliasMethod(getBlockReceipts, "erigon_getBlockReceiptsByBlockHash", [SAMPLE.hash]),
  aliasMethod(getLogs, "erigon_getLogs"),
];

import { aliasMethod, type Method } from "../dispatch/method.ts";
import { getBlockReceipts } from "../eth/block/get-block-receipts.ts";
import { getHeaderByHash } from "../eth/block/get-header-by-hash.ts";
import { getHeaderByNumber } from "../eth/block/get-header-by-number.ts";
import { getLogs } from "../eth/filter/get-logs.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { blockNumber } from "./block-number.ts";
import { cacheCheck } from "./cache-check.ts";
import { forks } from "./forks.ts";
import { getBalanceChangesInBlock } from "./get-balance-changes-in-block.ts";
import { getBlockByTimestamp } from "./get-block-by-timestamp.ts";
import { getLatestLogs } from "./get-latest-logs.ts";
import { getLogsByHash } from "./get-logs-by-hash.ts";

/** Erigon has some methods of `eth` under names of its own. */
export const ERIGON_METHODS: readonly Method<RpcPorts>[] = [
  blockNumber,
  aliasMethod(getHeaderByNumber, "erigon_getHeaderByNumber"),
  aliasMethod(getHeaderByHash, "erigon_getHeaderByHash"),
  aliasMethod(getBlockReceipts, "erigon_getBlockReceiptsByBlockHash"),
  aliasMethod(getLogs, "erigon_getLogs"),
  getLogsByHash,
  getBlockByTimestamp,
  getLatestLogs,
  getBalanceChangesInBlock,
  forks,
  cacheCheck,
];

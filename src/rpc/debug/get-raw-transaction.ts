import { aliasMethod } from "../dispatch/method.ts";
import { getRawTransactionByHash } from "../eth/transaction/get-raw-transaction-by-hash.ts";

/** `debug_getRawTransaction`: as `eth_getRawTransactionByHash`. */
export const getRawTransaction = aliasMethod(getRawTransactionByHash, "debug_getRawTransaction");

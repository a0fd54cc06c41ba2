import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { getApiLevel } from "./get-api-level.ts";
import { getBlockDetails } from "./get-block-details.ts";
import { getBlockDetailsByHash } from "./get-block-details-by-hash.ts";
import { getBlockTransactions } from "./get-block-transactions.ts";
import { getContractCreator } from "./get-contract-creator.ts";
import { getInternalOperations } from "./get-internal-operations.ts";
import { getTransactionBySenderAndNonce } from "./get-transaction-by-sender-and-nonce.ts";
import { getTransactionError } from "./get-transaction-error.ts";
import { hasCode } from "./has-code.ts";
import { searchTransactionsAfter } from "./search-transactions-after.ts";
import { searchTransactionsBefore } from "./search-transactions-before.ts";
import { traceTransaction } from "./trace-transaction.ts";

/** Level 8 of the interface of Otterscan. */
export const OTS_METHODS: readonly Method<RpcPorts>[] = [
  getApiLevel,
  getBlockDetailsByHash,
  getBlockDetails,
  getBlockTransactions,
  getContractCreator,
  getInternalOperations,
  getTransactionBySenderAndNonce,
  getTransactionError,
  hasCode,
  searchTransactionsAfter,
  searchTransactionsBefore,
  traceTransaction,
];

import type { Method } from "../../transport/dispatch/method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { getApiLevel, getBlockDetails, getBlockDetailsByHash, getBlockTransactions, hasCode } from "./blocks.ts";
import { getTransactionBySenderAndNonce, searchTransactionsAfter, searchTransactionsBefore } from "./search.ts";
import { getContractCreator, getInternalOperations, getTransactionError, traceTransaction } from "./traces.ts";

/** Level 8 of the interface of Otterscan. */
export const OTS_METHODS: readonly Method<ServingPorts>[] = [
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

import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { blockNumber } from "./block/block-number.ts";
import { getBlockByHash } from "./block/get-block-by-hash.ts";
import { getBlockByNumber } from "./block/get-block-by-number.ts";
import { getBlockReceipts } from "./block/get-block-receipts.ts";
import { getBlockTransactionCountByHash } from "./block/get-block-transaction-count-by-hash.ts";
import { getBlockTransactionCountByNumber } from "./block/get-block-transaction-count-by-number.ts";
import { getHeaderByHash } from "./block/get-header-by-hash.ts";
import { getHeaderByNumber } from "./block/get-header-by-number.ts";
import { getUncleByBlockHashAndIndex } from "./block/get-uncle-by-block-hash-and-index.ts";
import { getUncleByBlockNumberAndIndex } from "./block/get-uncle-by-block-number-and-index.ts";
import { getUncleCountByBlockHash } from "./block/get-uncle-count-by-block-hash.ts";
import { getUncleCountByBlockNumber } from "./block/get-uncle-count-by-block-number.ts";
import { accounts } from "./client/accounts.ts";
import { capabilities } from "./client/capabilities.ts";
import { chainId } from "./client/chain-id.ts";
import { coinbase } from "./client/coinbase.ts";
import { compileLLL } from "./client/compile-lll.ts";
import { compileSerpent } from "./client/compile-serpent.ts";
import { compileSolidity } from "./client/compile-solidity.ts";
import { compileStandardJson } from "./client/compile-standard-json.ts";
import { config } from "./client/config.ts";
import { getCompilers } from "./client/get-compilers.ts";
import { getWork } from "./client/get-work.ts";
import { hashrate } from "./client/hashrate.ts";
import { mining } from "./client/mining.ts";
import { protocolVersion } from "./client/protocol-version.ts";
import { submitHashrate } from "./client/submit-hashrate.ts";
import { submitWork } from "./client/submit-work.ts";
import { syncing } from "./client/syncing.ts";
import { call } from "./execute/call.ts";
import { callMany } from "./execute/call-many.ts";
import { createAccessList } from "./execute/create-access-list.ts";
import { estimateGas } from "./execute/estimate-gas.ts";
import { simulateV1 } from "./execute/simulate-v1.ts";
import { baseFee } from "./fee-market/base-fee.ts";
import { blobBaseFee } from "./fee-market/blob-base-fee.ts";
import { feeHistory } from "./fee-market/fee-history.ts";
import { gasPrice } from "./fee-market/gas-price.ts";
import { maxPriorityFeePerGas } from "./fee-market/max-priority-fee-per-gas.ts";
import { getFilterChanges } from "./filter/get-filter-changes.ts";
import { getFilterLogs } from "./filter/get-filter-logs.ts";
import { getLogs } from "./filter/get-logs.ts";
import { newBlockFilter } from "./filter/new-block-filter.ts";
import { newFilter } from "./filter/new-filter.ts";
import { newPendingTransactionFilter } from "./filter/new-pending-transaction-filter.ts";
import { ethSubscriptions } from "./filter/subscriptions.ts";
import { uninstallFilter } from "./filter/uninstall-filter.ts";
import { sign } from "./sign/sign.ts";
import { signTransaction } from "./sign/sign-transaction.ts";
import { signTypedData, signTypedDataV4 } from "./sign/sign-typed-data.ts";
import { getAccount } from "./state/get-account.ts";
import { getAccountInfo } from "./state/get-account-info.ts";
import { getBalance } from "./state/get-balance.ts";
import { getCode } from "./state/get-code.ts";
import { getProof } from "./state/get-proof.ts";
import { getStorageAt } from "./state/get-storage-at.ts";
import { getStorageValues } from "./state/get-storage-values.ts";
import { getTransactionCount } from "./state/get-transaction-count.ts";
import { fillTransaction } from "./submit/fill-transaction.ts";
import { resend } from "./submit/resend.ts";
import { sendRawTransaction } from "./submit/send-raw-transaction.ts";
import { sendRawTransactionSync } from "./submit/send-raw-transaction-sync.ts";
import { sendTransaction } from "./submit/send-transaction.ts";
import { getRawTransactionByBlockHashAndIndex } from "./transaction/get-raw-transaction-by-block-hash-and-index.ts";
import { getRawTransactionByBlockNumberAndIndex } from "./transaction/get-raw-transaction-by-block-number-and-index.ts";
import { getRawTransactionByHash } from "./transaction/get-raw-transaction-by-hash.ts";
import { getTransactionByBlockHashAndIndex } from "./transaction/get-transaction-by-block-hash-and-index.ts";
import {
  getTransactionByBlockNumberAndIndex,
  getTransactionbyBlockNumberAndIndex,
} from "./transaction/get-transaction-by-block-number-and-index.ts";
import { getTransactionByHash } from "./transaction/get-transaction-by-hash.ts";
import { getTransactionBySenderAndNonce } from "./transaction/get-transaction-by-sender-and-nonce.ts";
import { getTransactionReceipt } from "./transaction/get-transaction-receipt.ts";
import { pendingTransactions } from "./transaction/pending-transactions.ts";

export const ETH_METHODS: readonly Method<RpcPorts>[] = [
  protocolVersion,
  chainId,
  config,
  capabilities,
  syncing,
  blockNumber,
  coinbase,
  accounts,
  gasPrice,
  maxPriorityFeePerGas,
  feeHistory,
  baseFee,
  blobBaseFee,
  getBalance,
  getStorageAt,
  getStorageValues,
  getTransactionCount,
  getCode,
  getProof,
  getBlockByNumber,
  getBlockByHash,
  getHeaderByNumber,
  getHeaderByHash,
  getBlockReceipts,
  getBlockTransactionCountByNumber,
  getBlockTransactionCountByHash,
  getTransactionByHash,
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionbyBlockNumberAndIndex,
  getTransactionReceipt,
  getRawTransactionByHash,
  getRawTransactionByBlockHashAndIndex,
  getRawTransactionByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getTransactionBySenderAndNonce,
  pendingTransactions,
  getAccount,
  getAccountInfo,
  mining,
  hashrate,
  submitHashrate,
  getWork,
  submitWork,
  getCompilers,
  compileSolidity,
  compileStandardJson,
  compileLLL,
  compileSerpent,
  call,
  callMany,
  estimateGas,
  createAccessList,
  simulateV1,
  getLogs,
  newFilter,
  newBlockFilter,
  newPendingTransactionFilter,
  getFilterChanges,
  getFilterLogs,
  uninstallFilter,
  ...ethSubscriptions,
  sendRawTransaction,
  sendRawTransactionSync,
  sendTransaction,
  signTransaction,
  fillTransaction,
  resend,
  sign,
  signTypedDataV4,
  signTypedData,
];

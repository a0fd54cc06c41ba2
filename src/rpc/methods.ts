import type { ChainReader } from "../chain/reader.ts";
import type { BlockTester } from "../consensus/built-block.ts";
import type { AccountSigner } from "../keystore/account-signer.ts";
import type { PoolReader } from "../mempool/pool.ts";
import type { SubmissionRules } from "../mempool/submission.ts";
import { buildBlockV1, commitBlockV1 } from "./block-testing/build-block-v1.ts";
import { CONTROL_METHODS, type ControlModules } from "./control-methods.ts";
import { getRawBlock, getRawHeader, getRawReceipts, getRawTransaction } from "./debug/get-raw.ts";
import { traceBlock, traceBlockByHash, traceBlockByNumber } from "./debug/trace-block.ts";
import { traceCall } from "./debug/trace-call.ts";
import { traceTransaction } from "./debug/trace-transaction.ts";
import { createRegistry, type Method, type MethodInfo } from "./dispatch/method.ts";
import { blockNumber } from "./eth/block/block-number.ts";
import { getBlockByHash } from "./eth/block/get-block-by-hash.ts";
import { getBlockByNumber } from "./eth/block/get-block-by-number.ts";
import { getBlockReceipts } from "./eth/block/get-block-receipts.ts";
import { getBlockTransactionCountByHash } from "./eth/block/get-block-transaction-count-by-hash.ts";
import { getBlockTransactionCountByNumber } from "./eth/block/get-block-transaction-count-by-number.ts";
import { getHeaderByHash } from "./eth/block/get-header-by-hash.ts";
import { getHeaderByNumber } from "./eth/block/get-header-by-number.ts";
import {
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
} from "./eth/block/uncles.ts";
import { accounts } from "./eth/client/accounts.ts";
import { capabilities } from "./eth/client/capabilities.ts";
import { chainId } from "./eth/client/chain-id.ts";
import { coinbase } from "./eth/client/coinbase.ts";
import {
  compileLLL,
  compileSerpent,
  compileSolidity,
  getCompilers,
} from "./eth/client/compilers.ts";
import { config } from "./eth/client/config.ts";
import type { HashrateRegistry } from "./eth/client/hashrate-registry.ts";
import { getWork, hashrate, mining, submitHashrate, submitWork } from "./eth/client/mining.ts";
import { protocolVersion } from "./eth/client/protocol-version.ts";
import { syncing } from "./eth/client/syncing.ts";
import { call } from "./eth/execute/call.ts";
import { callMany } from "./eth/execute/call-many.ts";
import { createAccessList } from "./eth/execute/create-access-list.ts";
import { estimateGas } from "./eth/execute/estimate-gas.ts";
import { simulateV1 } from "./eth/execute/simulate-v1.ts";
import { baseFee } from "./eth/fee-market/base-fee.ts";
import { blobBaseFee } from "./eth/fee-market/blob-base-fee.ts";
import { feeHistory } from "./eth/fee-market/fee-history.ts";
import { gasPrice } from "./eth/fee-market/gas-price.ts";
import { maxPriorityFeePerGas } from "./eth/fee-market/max-priority-fee-per-gas.ts";
import {
  getFilterChanges,
  getFilterLogs,
  newBlockFilter,
  newFilter,
  newPendingTransactionFilter,
  uninstallFilter,
} from "./eth/filter/filters.ts";
import { getLogs, type LogModules } from "./eth/filter/get-logs.ts";
import { ethSubscriptions, type SubscriptionModules } from "./eth/filter/subscriptions.ts";
import { sign } from "./eth/sign/sign.ts";
import { signTransaction } from "./eth/sign/sign-transaction.ts";
import { signTypedData, signTypedDataV4 } from "./eth/sign/sign-typed-data.ts";
import { getAccount, getAccountInfo } from "./eth/state/get-account.ts";
import { getBalance } from "./eth/state/get-balance.ts";
import { getCode } from "./eth/state/get-code.ts";
import { getProof } from "./eth/state/get-proof.ts";
import { getStorageAt } from "./eth/state/get-storage-at.ts";
import { getStorageValues } from "./eth/state/get-storage-values.ts";
import { getTransactionCount } from "./eth/state/get-transaction-count.ts";
import { fillTransaction } from "./eth/submit/fill-transaction.ts";
import type { KeyedLock } from "./eth/submit/keyed-lock.ts";
import { resend } from "./eth/submit/resend.ts";
import { sendRawTransaction } from "./eth/submit/send-raw-transaction.ts";
import { sendRawTransactionSync } from "./eth/submit/send-raw-transaction-sync.ts";
import { sendTransaction } from "./eth/submit/send-transaction.ts";
import { getRawTransactionByBlockHashAndIndex } from "./eth/transaction/get-raw-transaction-by-block-hash-and-index.ts";
import { getRawTransactionByBlockNumberAndIndex } from "./eth/transaction/get-raw-transaction-by-block-number-and-index.ts";
import { getRawTransactionByHash } from "./eth/transaction/get-raw-transaction-by-hash.ts";
import { getTransactionByBlockHashAndIndex } from "./eth/transaction/get-transaction-by-block-hash-and-index.ts";
import {
  getTransactionByBlockNumberAndIndex,
  getTransactionbyBlockNumberAndIndex,
} from "./eth/transaction/get-transaction-by-block-number-and-index.ts";
import { getTransactionByHash } from "./eth/transaction/get-transaction-by-hash.ts";
import { getTransactionBySenderAndNonce } from "./eth/transaction/get-transaction-by-sender-and-nonce.ts";
import { getTransactionReceipt } from "./eth/transaction/get-transaction-receipt.ts";
import { pendingTransactions } from "./eth/transaction/pending-transactions.ts";
import type { Filters } from "./filters/filters.ts";
import type { BlockJsonCache } from "./json/block-json-cache.ts";
import { listening } from "./net/listening.ts";
import { peerCount } from "./net/peer-count.ts";
import { version } from "./net/version.ts";
import type { ChainEvents } from "./ports/chain-events.ts";
import type {
  BlobProver,
  CallExecutor,
  Compiler,
  FeeReader,
  PassphraseSigner,
  Simulator,
  Submit,
  TraceExecutor,
} from "./ports/execution.ts";
import type { NodeInfo } from "./ports/node-info.ts";
import { discover } from "./rpc/discover.ts";
import { modules } from "./rpc/modules.ts";
import { content, contentFrom, inspect, status } from "./txpool/content.ts";
import { clientVersion } from "./web3/client-version.ts";
import { sha3 } from "./web3/sha3.ts";

/** Everything the methods below ask for together. */
export type RpcModules = ControlModules & ChainModules;

/** What the methods ask for that read the chain and send transactions to it. */
export type ChainModules = {
  readonly node: NodeInfo;
  readonly chain: ChainReader;
  readonly pool: PoolReader;
  readonly submit: Submit;
  readonly submissionRules: SubmissionRules;
  readonly executor: CallExecutor;
  readonly simulator: Simulator;
  readonly tracing: TraceExecutor;
  readonly blockTester: BlockTester;
  readonly fees: FeeReader;
  readonly blockJson: BlockJsonCache;
  readonly logs: LogModules["logs"];
  readonly logLimits: LogModules["logLimits"];
  readonly filters: Filters;
  readonly subscriptions: SubscriptionModules["subscriptions"];
  readonly feeds: SubscriptionModules["feeds"];
  readonly signer: AccountSigner;
  /** Absent where there is no key store. */
  readonly passphraseSigner: PassphraseSigner | undefined;
  /** In front of " Signed Message:" */
  readonly chainName: string;
  readonly sendLock: KeyedLock;
  readonly events: ChainEvents;
  readonly hashrates: HashrateRegistry;
  /** For `rpc_discover`: every method there is. */
  readonly methods: () => readonly MethodInfo[];
  readonly compiler: Compiler;
  readonly blobProver: BlobProver;
};

type Namespace = readonly Method<RpcModules>[];

const web3: Namespace = [clientVersion, sha3];

const net: Namespace = [version, peerCount, listening];

const rpc: Namespace = [modules, discover];

const eth: Namespace = [
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

const debug: Namespace = [
  getRawBlock,
  getRawHeader,
  getRawReceipts,
  getRawTransaction,
  traceTransaction,
  traceBlockByNumber,
  traceBlockByHash,
  traceBlock,
  traceCall,
];

const testing: Namespace = [buildBlockV1, commitBlockV1];

const txpool: Namespace = [content, contentFrom, inspect, status];

/** Every method of the node; which of them a listener serves is its access policy's matter. */
export const METHODS: Namespace = [
  ...web3,
  ...net,
  ...rpc,
  ...eth,
  ...debug,
  ...testing,
  ...txpool,
  ...CONTROL_METHODS,
];

export function createMethodRegistry() {
  return createRegistry(METHODS);
}

import type { ChainReader } from "../chain/reader.ts";
import type { BlockTester } from "../consensus/built-block.ts";
import type { AccountSigner } from "../keystore/account-signer.ts";
import type { PoolReader } from "../mempool/pool.ts";
import { buildBlockV1, commitBlockV1 } from "./block-testing/build-block-v1.ts";
import type { ChainEvents } from "./chain-events.ts";
import { CONTROL_METHODS, type ControlModules } from "./control-methods.ts";
import { getRawBlock, getRawHeader, getRawReceipts, getRawTransaction } from "./debug/get-raw.ts";
import { traceBlock, traceBlockByHash, traceBlockByNumber } from "./debug/trace-block.ts";
import { traceCall } from "./debug/trace-call.ts";
import { traceTransaction } from "./debug/trace-transaction.ts";
import { accounts } from "./eth/accounts.ts";
import { baseFee } from "./eth/base-fee.ts";
import { blobBaseFee } from "./eth/blob-base-fee.ts";
import { blockNumber } from "./eth/block-number.ts";
import { call } from "./eth/call.ts";
import { callMany } from "./eth/call-many.ts";
import { capabilities } from "./eth/capabilities.ts";
import { chainId } from "./eth/chain-id.ts";
import { coinbase } from "./eth/coinbase.ts";
import { compileLLL, compileSerpent, compileSolidity, getCompilers } from "./eth/compilers.ts";
import { config } from "./eth/config.ts";
import { createAccessList } from "./eth/create-access-list.ts";
import { estimateGas } from "./eth/estimate-gas.ts";
import { feeHistory } from "./eth/fee-history.ts";
import { fillTransaction } from "./eth/fill-transaction.ts";
import {
  getFilterChanges,
  getFilterLogs,
  newBlockFilter,
  newFilter,
  newPendingTransactionFilter,
  uninstallFilter,
} from "./eth/filters.ts";
import { gasPrice } from "./eth/gas-price.ts";
import { getAccount, getAccountInfo } from "./eth/get-account.ts";
import { getBalance } from "./eth/get-balance.ts";
import { getBlockByHash } from "./eth/get-block-by-hash.ts";
import { getBlockByNumber } from "./eth/get-block-by-number.ts";
import { getBlockReceipts } from "./eth/get-block-receipts.ts";
import { getBlockTransactionCountByHash } from "./eth/get-block-transaction-count-by-hash.ts";
import { getBlockTransactionCountByNumber } from "./eth/get-block-transaction-count-by-number.ts";
import { getCode } from "./eth/get-code.ts";
import { getHeaderByHash } from "./eth/get-header-by-hash.ts";
import { getHeaderByNumber } from "./eth/get-header-by-number.ts";
import { getLogs, type LogModules } from "./eth/get-logs.ts";
import { getProof } from "./eth/get-proof.ts";
import { getRawTransactionByBlockHashAndIndex } from "./eth/get-raw-transaction-by-block-hash-and-index.ts";
import { getRawTransactionByBlockNumberAndIndex } from "./eth/get-raw-transaction-by-block-number-and-index.ts";
import { getRawTransactionByHash } from "./eth/get-raw-transaction-by-hash.ts";
import { getStorageAt } from "./eth/get-storage-at.ts";
import { getStorageValues } from "./eth/get-storage-values.ts";
import { getTransactionByBlockHashAndIndex } from "./eth/get-transaction-by-block-hash-and-index.ts";
import {
  getTransactionByBlockNumberAndIndex,
  getTransactionbyBlockNumberAndIndex,
} from "./eth/get-transaction-by-block-number-and-index.ts";
import { getTransactionByHash } from "./eth/get-transaction-by-hash.ts";
import { getTransactionBySenderAndNonce } from "./eth/get-transaction-by-sender-and-nonce.ts";
import { getTransactionCount } from "./eth/get-transaction-count.ts";
import { getTransactionReceipt } from "./eth/get-transaction-receipt.ts";
import { maxPriorityFeePerGas } from "./eth/max-priority-fee-per-gas.ts";
import { getWork, hashrate, mining, submitHashrate, submitWork } from "./eth/mining.ts";
import { pendingTransactions } from "./eth/pending-transactions.ts";
import { protocolVersion } from "./eth/protocol-version.ts";
import { resend } from "./eth/resend.ts";
import { sendRawTransaction } from "./eth/send-raw-transaction.ts";
import { sendRawTransactionSync } from "./eth/send-raw-transaction-sync.ts";
import { sendTransaction } from "./eth/send-transaction.ts";
import { sign } from "./eth/sign.ts";
import { signTransaction } from "./eth/sign-transaction.ts";
import { signTypedData, signTypedDataV4 } from "./eth/sign-typed-data.ts";
import { simulateV1 } from "./eth/simulate-v1.ts";
import { ethSubscriptions, type SubscriptionModules } from "./eth/subscriptions.ts";
import { syncing } from "./eth/syncing.ts";
import {
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
} from "./eth/uncles.ts";
import type { Filters } from "./filters/filters.ts";
import type { BlockJsonCache } from "./json/block-json-cache.ts";
import type { KeyedLock } from "./keyed-lock.ts";
import { createRegistry, type Method, type MethodInfo } from "./method.ts";
import type { HashrateRegistry } from "./mining/hashrate-registry.ts";
import { listening } from "./net/listening.ts";
import { peerCount } from "./net/peer-count.ts";
import { version } from "./net/version.ts";
import type { NodeInfo } from "./node-info.ts";
import type {
  BlobProver,
  CallExecutor,
  Compiler,
  FeeReader,
  PassphraseSigner,
  Simulator,
  Submit,
  TraceExecutor,
} from "./ports.ts";
import { discover } from "./rpc/discover.ts";
import { modules } from "./rpc/modules.ts";
import type { SubmissionRules } from "./submission.ts";
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

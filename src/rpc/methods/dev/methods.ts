import { aliasMethod, type Method } from "../../transport/dispatch/method.ts";
import { forwarded, type RpcPorts, type ServingPorts } from "../rpc-ports.ts";
import {
  addBalance,
  autoImpersonateAccount,
  dealErc20,
  impersonateAccount,
  setBalance,
  setCode,
  setErc20Allowance,
  setNonce,
  setStorageAt,
  stopImpersonatingAccount,
} from "./accounts.ts";
import {
  anvilMine,
  evmMine,
  evmMineDetailed,
  ganacheMining,
  getIntervalMining,
  hardhatGetAutomine,
  hardhatMine,
  intervalMine,
  setAutomine,
  setBlockGasLimit,
  setCoinbase,
  setIntervalMining,
  setIntervalMiningSeconds,
  setMinGasPrice,
  setNextBlockBaseFeePerGas,
  setPrevRandao,
} from "./blocks.ts";
import { anvilNodeInfo, hardhatMetadata, setLoggingEnabled, setRpcUrl } from "./client.ts";
import { dumpState, loadState, reorg, reset, revert, rollback, snapshot } from "./history.ts";
import {
  dropAllTransactions,
  dropTransaction,
  dropTransactionByHash,
  removePoolTransactions,
  sendUnsignedTransaction,
} from "./pool.ts";
import {
  genesisTime,
  increaseTime,
  removeBlockTimestampInterval,
  setBlockTimestampInterval,
  setBlockTimestampIntervalMs,
  setNextBlockTimestamp,
  setTime,
} from "./time.ts";
import { WALLET_METHODS } from "./wallet.ts";

const METHODS: readonly Method<RpcPorts>[] = [
  hardhatMetadata,
  aliasMethod(hardhatMetadata, "anvil_metadata"),
  hardhatGetAutomine,
  aliasMethod(hardhatGetAutomine, "anvil_getAutomine"),
  anvilNodeInfo,
  sendUnsignedTransaction,
  ...snapshot,
  ...revert,
  ...evmMine,
  ...evmMineDetailed,
  ...intervalMine,
  ...hardhatMine,
  ...anvilMine,
  ...increaseTime,
  ...setTime,
  ...setNextBlockTimestamp,
  ...setBlockTimestampInterval,
  ...setBlockTimestampIntervalMs,
  ...removeBlockTimestampInterval,
  ...setAutomine,
  ...setIntervalMining,
  ...setIntervalMiningSeconds,
  ...getIntervalMining,
  ...ganacheMining,
  ...setBlockGasLimit,
  ...setCoinbase,
  ...setNextBlockBaseFeePerGas,
  ...setMinGasPrice,
  ...setPrevRandao,
  ...genesisTime,
  ...setBalance,
  ...addBalance,
  ...setNonce,
  ...setCode,
  ...setStorageAt,
  ...dealErc20,
  ...setErc20Allowance,
  ...impersonateAccount,
  ...stopImpersonatingAccount,
  ...autoImpersonateAccount,
  ...dropTransaction,
  ...dropTransactionByHash,
  ...dropAllTransactions,
  ...removePoolTransactions,
  ...rollback,
  ...reorg,
  ...reset,
  ...dumpState,
  ...loadState,
  ...setLoggingEnabled,
  ...setRpcUrl,
  ...WALLET_METHODS,
];

/**
 * Methods of dev chains only: elsewhere tools would mistake the chain for one whose state they may change. One that has the name of
 * an ordinary method takes its place there.
 */
export const DEV_METHODS: readonly Method<ServingPorts>[] = METHODS.map(forwarded);

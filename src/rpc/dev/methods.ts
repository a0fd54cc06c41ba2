import { aliasMethod, type Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { addBalance } from "./accounts/add-balance.ts";
import { autoImpersonateAccount } from "./accounts/auto-impersonate-account.ts";
import { dealErc20 } from "./accounts/deal-erc20.ts";
import { impersonateAccount } from "./accounts/impersonate-account.ts";
import { setBalance } from "./accounts/set-balance.ts";
import { setCode } from "./accounts/set-code.ts";
import { setErc20Allowance } from "./accounts/set-erc20-allowance.ts";
import { setNonce } from "./accounts/set-nonce.ts";
import { setStorageAt } from "./accounts/set-storage-at.ts";
import { stopImpersonatingAccount } from "./accounts/stop-impersonating-account.ts";
import { evmMine, evmMineDetailed } from "./blocks/evm-mine.ts";
import { ganacheMining } from "./blocks/ganache-mining.ts";
import { getIntervalMining } from "./blocks/get-interval-mining.ts";
import { hardhatGetAutomine } from "./blocks/hardhat-get-automine.ts";
import { intervalMine } from "./blocks/interval-mine.ts";
import { anvilMine, hardhatMine } from "./blocks/mine.ts";
import { setAutomine } from "./blocks/set-automine.ts";
import { setBlockGasLimit } from "./blocks/set-block-gas-limit.ts";
import { setCoinbase } from "./blocks/set-coinbase.ts";
import { setIntervalMining, setIntervalMiningSeconds } from "./blocks/set-interval-mining.ts";
import { setMinGasPrice } from "./blocks/set-min-gas-price.ts";
import { setNextBlockBaseFeePerGas } from "./blocks/set-next-block-base-fee-per-gas.ts";
import { setPrevRandao } from "./blocks/set-prev-randao.ts";
import { anvilNodeInfo } from "./client/anvil-node-info.ts";
import { hardhatMetadata } from "./client/hardhat-metadata.ts";
import { setLoggingEnabled } from "./client/set-logging-enabled.ts";
import { setRpcUrl } from "./client/set-rpc-url.ts";
import { dumpState } from "./history/dump-state.ts";
import { loadState } from "./history/load-state.ts";
import { reorg } from "./history/reorg.ts";
import { reset } from "./history/reset.ts";
import { revert } from "./history/revert.ts";
import { rollback } from "./history/rollback.ts";
import { snapshot } from "./history/snapshot.ts";
import { dropAllTransactions } from "./pool/drop-all-transactions.ts";
import { dropTransaction, dropTransactionByHash } from "./pool/drop-transaction.ts";
import { removePoolTransactions } from "./pool/remove-pool-transactions.ts";
import { sendUnsignedTransaction } from "./pool/send-unsigned-transaction.ts";
import { genesisTime } from "./time/genesis-time.ts";
import { increaseTime } from "./time/increase-time.ts";
import { removeBlockTimestampInterval } from "./time/remove-block-timestamp-interval.ts";
import {
  setBlockTimestampInterval,
  setBlockTimestampIntervalMs,
} from "./time/set-block-timestamp-interval.ts";
import { setNextBlockTimestamp } from "./time/set-next-block-timestamp.ts";
import { setTime } from "./time/set-time.ts";

/**
 * Methods of dev chains only: elsewhere tools would mistake the chain for one whose state they may change. One that has the name of
 * an ordinary method takes its place there.
 */
export const DEV_METHODS: readonly Method<RpcPorts>[] = [
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
];

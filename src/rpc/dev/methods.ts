import { aliasMethod, type Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { addBalance } from "./add-balance.ts";
import { anvilNodeInfo } from "./anvil-node-info.ts";
import { autoImpersonateAccount } from "./auto-impersonate-account.ts";
import { dealErc20 } from "./deal-erc20.ts";
import { dropAllTransactions } from "./drop-all-transactions.ts";
import { dropTransaction, dropTransactionByHash } from "./drop-transaction.ts";
import { dumpState } from "./dump-state.ts";
import { evmMine, evmMineDetailed } from "./evm-mine.ts";
import { ganacheMining } from "./ganache-mining.ts";
import { genesisTime } from "./genesis-time.ts";
import { getIntervalMining } from "./get-interval-mining.ts";
import { hardhatGetAutomine } from "./hardhat-get-automine.ts";
import { hardhatMetadata } from "./hardhat-metadata.ts";
import { impersonateAccount } from "./impersonate-account.ts";
import { increaseTime } from "./increase-time.ts";
import { intervalMine } from "./interval-mine.ts";
import { loadState } from "./load-state.ts";
import { anvilMine, hardhatMine } from "./mine.ts";
import { removeBlockTimestampInterval } from "./remove-block-timestamp-interval.ts";
import { removePoolTransactions } from "./remove-pool-transactions.ts";
import { reorg } from "./reorg.ts";
import { reset } from "./reset.ts";
import { revert } from "./revert.ts";
import { rollback } from "./rollback.ts";
import { sendUnsignedTransaction } from "./send-unsigned-transaction.ts";
import { setAutomine } from "./set-automine.ts";
import { setBalance } from "./set-balance.ts";
import { setBlockGasLimit } from "./set-block-gas-limit.ts";
import {
  setBlockTimestampInterval,
  setBlockTimestampIntervalMs,
} from "./set-block-timestamp-interval.ts";
import { setCode } from "./set-code.ts";
import { setCoinbase } from "./set-coinbase.ts";
import { setErc20Allowance } from "./set-erc20-allowance.ts";
import { setIntervalMining, setIntervalMiningSeconds } from "./set-interval-mining.ts";
import { setLoggingEnabled } from "./set-logging-enabled.ts";
import { setMinGasPrice } from "./set-min-gas-price.ts";
import { setNextBlockBaseFeePerGas } from "./set-next-block-base-fee-per-gas.ts";
import { setNextBlockTimestamp } from "./set-next-block-timestamp.ts";
import { setNonce } from "./set-nonce.ts";
import { setPrevRandao } from "./set-prev-randao.ts";
import { setStorageAt } from "./set-storage-at.ts";
import { setTime } from "./set-time.ts";
import { snapshot } from "./snapshot.ts";
import { stopImpersonatingAccount } from "./stop-impersonating-account.ts";

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
];

import { blobParamsAt } from "../../base/params/blob-schedule.ts";
import { type ChainConfig, chainIdAt } from "../../base/params/chain-config.ts";
import { blobBaseFee } from "../../base/params/fees.ts";
import { hardforkAt } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Header } from "../../base/types/header.ts";
import type { BlockContext } from "../machine/evm.ts";
import { InvalidTransactionError } from "./errors.ts";

/** Hash of a block by number, of one of the 256 blocks before the one that is executed. */
export type BlockHashes = (number: number) => Hash | undefined;

/** The header's fields that an execution sees. */
export type ContextHeader = Pick<
  Header,
  | "number"
  | "timestamp"
  | "coinbase"
  | "gasLimit"
  | "difficulty"
  | "mixHash"
  | "baseFeePerGas"
  | "excessBlobGas"
  | "slotNumber"
>;

/** The header's fields that are known before the first transaction. */
export type OpenHeader = ContextHeader & Pick<Header, "parentHash" | "parentBeaconBlockRoot">;

/** What `header` is to the EVM: fork, fees, opcodes of block information. */
export function blockContextOf(header: ContextHeader, config: ChainConfig, blockHash: BlockHashes): BlockContext {
  const hardfork = hardforkAt(config, header);
  const blobParams = blobParamsAt(config, header.timestamp);
  const context: { -readonly [Key in keyof BlockContext]: BlockContext[Key] } = {
    hardfork,
    chainId: chainIdAt(config, header.number),
    number: header.number,
    timestamp: header.timestamp,
    coinbase: header.coinbase,
    gasLimit: header.gasLimit,
    difficulty: header.difficulty,
    prevRandao: header.mixHash,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    blobBaseFee:
      header.excessBlobGas === undefined || blobParams === undefined
        ? 0n
        : blobBaseFee(header.excessBlobGas, blobParams),
    blockHash,
  };
  // Spreads of what may be there take V8 microseconds, and every call has a context.
  if (config.codeSizeMax !== undefined) context.codeSizeMax = config.codeSizeMax;
  if (config.noTxGasLimit) context.noTxGasLimit = true;
  if (config.devRules) context.devRules = true;
  if (header.slotNumber !== undefined) context.slotNumber = header.slotNumber;
  return context;
}

/** Gas and blob gas left in a block. */
export type GasPool = {
  /** Execution gas; all gas before Amsterdam */
  gas: bigint;
  /** EIP-8037: gas of what the state grows by, whose limit is that of the block as well; untouched before Amsterdam */
  stateGas: bigint;
  blobGas: bigint;
  /** What the transactions so far paid for together; from Amsterdam on other than what the block used. */
  paidGas: bigint;
};

/** The unused gas pool of a block. */
export function fullGasPool(gasLimit: bigint, blobGas: bigint): GasPool {
  return { gas: gasLimit, stateGas: gasLimit, blobGas, paidGas: 0n };
}

/**
 * @param executionMax of `gas` that execution may use; the rest is for growth of the state
 * @throws InvalidTransactionError when the block has less left.
 */
export function assertGasLeft(
  pool: GasPool,
  {
    gas,
    executionMax = gas,
    blobGas,
  }: { readonly gas: bigint; readonly executionMax?: bigint | undefined; readonly blobGas: bigint },
): void {
  const execution = gas < executionMax ? gas : executionMax;
  if (pool.gas < execution || pool.stateGas < gas) {
    throw new InvalidTransactionError("TX_GAS_ALLOWANCE_EXCEEDED", "gas limit reached", {
      gasLeft: pool.gas < pool.stateGas ? pool.gas : pool.stateGas,
      gasLimit: gas,
    });
  }
  if (pool.blobGas < blobGas) {
    throw new InvalidTransactionError("TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED", "max data blobs reached", {
      blobGasLeft: pool.blobGas,
      blobGas,
    });
  }
}

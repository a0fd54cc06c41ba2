import { NodeError } from "../../errors.ts";
import { blobParamsAt } from "../../params/blob-schedule.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { blobBaseFee, nextBaseFee, nextExcessBlobGas } from "../../params/fees.ts";
import { GAS_PER_BLOB } from "../../params/gas.ts";
import { isBlockForkActive, isTimeForkActive } from "../../params/hardfork-at.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { effectiveTip } from "../../types/transaction/fees.ts";
import type { ChainReader } from "../reader.ts";

/** More blocks than this are silently not looked at. */
const BLOCKS_MAX = 1024;
const PERCENTILES_MAX = 100;

/** Fees of a run of blocks, in wei. */
export type FeeHistory = {
  readonly oldestBlock: number;
  /** One list a block, one entry a percentile; absent when no percentiles were asked for. */
  readonly reward?: readonly (readonly bigint[])[];
  /** One more than there are blocks: the next block's is last. */
  readonly baseFeePerGas: readonly bigint[];
  readonly gasUsedRatio: readonly number[];
  readonly baseFeePerBlobGas: readonly bigint[];
  readonly blobGasUsedRatio: readonly number[];
};

/** Percentiles or a range that eth_feeHistory rejects. The message is geth's. */
export class InvalidFeeHistoryRequestError extends NodeError {
  readonly code = "INVALID_FEE_HISTORY_REQUEST";
}

/** Transactions of a block by their tip, ascending. */
type Tips = readonly {
  readonly tip: bigint;
  /** Gas of this transaction and those before it. */
  readonly gasUpTo: bigint;
}[];

type BlockFees = {
  readonly baseFeePerGas: bigint;
  readonly gasUsedRatio: number;
  readonly baseFeePerBlobGas: bigint;
  readonly blobGasUsedRatio: number;
  /** Sorted when a percentile is asked for the first time. */
  tips: Tips | undefined;
};

/**
 * eth_feeHistory: base fees, fullness and tips of up to `blockCount` blocks, the newest of which is `newest`. `percentiles` ascend from
 * 0 to 100. What a block contributes is computed once for as long as the block itself stays decoded.
 * @throws InvalidFeeHistoryRequestError
 */
export function createFeeHistory(
  chain: Pick<ChainReader, "config" | "head" | "blockByNumber" | "pending">,
): (blockCount: number, newest: number | "pending", percentiles: readonly number[]) => FeeHistory {
  const { config } = chain;
  const known = new WeakMap<ExecutedBlock, BlockFees>();

  function feesOf(executed: ExecutedBlock): BlockFees {
    const found = known.get(executed);
    if (found !== undefined) return found;
    const { header } = executed.block;
    const fees: BlockFees = {
      baseFeePerGas: header.baseFeePerGas ?? 0n,
      gasUsedRatio: Number(header.gasUsed) / Number(header.gasLimit),
      baseFeePerBlobGas: blobFeeAt(header.excessBlobGas, header, config),
      blobGasUsedRatio: blobGasUsedRatio(header, config),
      tips: undefined,
    };
    known.set(executed, fees);
    return fees;
  }

  return (blockCount, newest, percentiles) => {
    checkPercentiles(percentiles);
    const head = chain.head().block.header.number;
    const pending = newest === "pending" ? chain.pending()?.executed : undefined;
    const last = newest === "pending" ? (pending ? head + 1 : head) : newest;
    if (newest !== "pending" && last > head) {
      throw new InvalidFeeHistoryRequestError(
        `request beyond head block: requested ${last}, head ${head}`,
        { requested: last, head },
      );
    }
    // Where no pending block can be built, the answer is one block shorter.
    const wanted = newest === "pending" && !pending ? blockCount - 1 : blockCount;
    const count = Math.min(wanted, BLOCKS_MAX, last + 1);
    const oldestBlock = last + 1 - count;
    const blocks: ExecutedBlock[] = [];
    for (let number = oldestBlock; number <= last; number++) {
      const executed = number > head ? pending : chain.blockByNumber(number);
      if (executed) blocks.push(executed);
    }
    const fees = blocks.map(feesOf);
    const newestHeader = blocks.at(-1)?.block.header;
    const following = newestHeader ? [newestHeader] : [];
    return {
      oldestBlock,
      ...(percentiles.length > 0 && {
        reward: blocks.map((executed, i) => {
          const block = fees[i]!;
          block.tips ??= tipsOf(executed);
          return rewardsOf(executed.block.header, block.tips, percentiles);
        }),
      }),
      baseFeePerGas: [
        ...fees.map(({ baseFeePerGas }) => baseFeePerGas),
        ...following.map((header) => followingBaseFee(header, config)),
      ],
      gasUsedRatio: fees.map(({ gasUsedRatio }) => gasUsedRatio),
      baseFeePerBlobGas: [
        ...fees.map(({ baseFeePerBlobGas }) => baseFeePerBlobGas),
        ...following.map((header) => followingBlobFee(header, config)),
      ],
      blobGasUsedRatio: fees.map(({ blobGasUsedRatio }) => blobGasUsedRatio),
    };
  };
}

function checkPercentiles(percentiles: readonly number[]): void {
  const refuse = (text: string): never => {
    throw new InvalidFeeHistoryRequestError(`invalid reward percentile: ${text}`);
  };
  if (percentiles.length > PERCENTILES_MAX) refuse(`over the query limit ${PERCENTILES_MAX}`);
  percentiles.forEach((value, index) => {
    if (!(value >= 0 && value <= 100)) refuse(value.toFixed(6));
    const before = percentiles[index - 1];
    if (before !== undefined && value <= before) {
      refuse(`#${index - 1}:${before.toFixed(6)} >= #${index}:${value.toFixed(6)}`);
    }
  });
}

function tipsOf({ block, receipts }: ExecutedBlock): Tips {
  const { baseFeePerGas = 0n } = block.header;
  const sorted = block.transactions
    .map((tx, index) => ({
      tip: effectiveTip(tx, baseFeePerGas),
      gasUsed: receipts[index]?.gasUsed ?? 0n,
    }))
    .sort((a, b) => (a.tip < b.tip ? -1 : a.tip > b.tip ? 1 : 0));
  let gasUpTo = 0n;
  return sorted.map(({ tip, gasUsed }) => {
    gasUpTo += gasUsed;
    return { tip, gasUpTo };
  });
}

/** For each percentile of the block's gas the tip of the transaction that reaches it. */
function rewardsOf({ gasUsed }: Header, tips: Tips, percentiles: readonly number[]): bigint[] {
  let index = 0;
  return percentiles.map((percentile) => {
    const threshold = BigInt(Math.trunc((Number(gasUsed) * percentile) / 100));
    while (index < tips.length - 1 && tips[index]!.gasUpTo < threshold) index++;
    return tips[index]?.tip ?? 0n;
  });
}

function followingBaseFee(header: Header, config: ChainConfig): bigint {
  const isLondon =
    header.baseFeePerGas !== undefined ||
    isBlockForkActive(config, "londonBlock", header.number + 1);
  return isLondon ? nextBaseFee(header) : 0n;
}

/** The rules are those of the header's own time, as geth has it: when the next block will come is not known. */
function followingBlobFee(header: Header, config: ChainConfig): bigint {
  const params = blobParamsAt(config, header.timestamp);
  if (header.excessBlobGas === undefined || !params) return 0n;
  const isOsaka = isTimeForkActive(config, "osakaTime", header.timestamp);
  return blobFeeAt(nextExcessBlobGas(header, params, isOsaka), header, config);
}

function blobFeeAt(
  excessBlobGas: bigint | undefined,
  { timestamp }: Header,
  config: ChainConfig,
): bigint {
  const params = blobParamsAt(config, timestamp);
  return excessBlobGas === undefined || !params ? 0n : blobBaseFee(excessBlobGas, params);
}

function blobGasUsedRatio({ blobGasUsed, timestamp }: Header, config: ChainConfig): number {
  const params = blobParamsAt(config, timestamp);
  if (blobGasUsed === undefined || !params) return 0;
  return Number(blobGasUsed) / (params.max * Number(GAS_PER_BLOB));
}

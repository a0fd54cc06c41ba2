import { NodeError } from "../../errors.ts";
import { blobParamsAt } from "../../params/blob-schedule.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { nextBaseFee, nextExcessBlobGas } from "../../params/fees.ts";
import { isBlockForkActive, isTimeForkActive } from "../../params/hardforks.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { ChainReader } from "../reader.ts";
import { BlockPrunedError } from "../store/store-errors.ts";
import { BlockFeeCache, type BlockFees, blobFeeAt, blockFees } from "./block-fees.ts";

/** A longer range is cut to this, as in geth. */
const BLOCKS_MAX = 1024;
const PERCENTILES_MAX = 100;
/** Histories that are stored. Wallets and libraries ask for one of a few lengths with a few percentiles. */
const STORED_MAX = 16;
/** Base fee, blob base fee and the two ratios. */
const FEES_OF_A_BLOCK = 4;
/** Fees in a history that is stored, some 64 bytes each: all of them together take no more than 4 MB. */
const STORED_FEES_MAX = 4_096;

/** Fees of a run of blocks, in wei. */
export type FeeHistory = {
  readonly oldestBlock: number;
  /** One list a block, one entry a percentile; absent without percentiles. */
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

/**
 * eth_feeHistory: base fees, fullness and tips of up to `blockCount` blocks, the newest of which is `newest`.
 * @param percentiles ascending, 0 to 100
 * @throws InvalidFeeHistoryRequestError
 */
export type GetFeeHistory = (
  blockCount: number,
  newest: number | "pending",
  percentiles: readonly number[],
) => FeeHistory;

/**
 * Whole blocks are read for their tips alone, and what was computed of a block is cached. Nearly all callers ask for the same: the same
 * arguments give the same object until there is another block.
 */
export function createFeeHistory(chain: FeeHistoryChain): GetFeeHistory {
  const compute = createComputation(chain);
  /** Oldest use first. The hash of the newest block stands for all blocks before it. */
  const stored = new Map<string, FeeHistory>();
  return (blockCount, newest, percentiles) => {
    const hash = newest === "pending" ? undefined : chain.blockHash(newest);
    const rowFees = FEES_OF_A_BLOCK + percentiles.length;
    const isStored = Math.min(blockCount, BLOCKS_MAX) * rowFees <= STORED_FEES_MAX;
    if (hash === undefined || !isStored) return compute(blockCount, newest, percentiles);
    const key = `${hash} ${blockCount} ${percentiles.join()}`;
    const history = stored.get(key) ?? compute(blockCount, newest, percentiles);
    stored.delete(key);
    stored.set(key, history);
    for (const oldest of stored.keys()) {
      if (stored.size <= STORED_MAX) break;
      stored.delete(oldest);
    }
    return history;
  };
}

type FeeHistoryChain = Pick<ChainReader, "config" | "head" | "oldest" | "blockHash" | "header" | "block" | "pending">;

function createComputation(chain: FeeHistoryChain): GetFeeHistory {
  const cache = new BlockFeeCache(chain);
  const { config } = chain;
  return (blockCount, newest, percentiles) => {
    checkPercentiles(percentiles);
    const head = chain.head().block.header.number;
    const pending = newest === "pending" ? chain.pending()?.executed : undefined;
    const last = newest === "pending" ? (pending ? head + 1 : head) : newest;
    if (newest !== "pending" && last > head) {
      throw new InvalidFeeHistoryRequestError(`request beyond head block: requested ${last}, head ${head}`, {
        requested: last,
        head,
      });
    }
    // Where no pending block can be built, the history has one block less.
    const wanted = newest === "pending" && !pending ? blockCount - 1 : blockCount;
    // As at block 0, the history is shorter where there are no older blocks.
    const first = chain.oldest().block;
    if (last < first) throw new BlockPrunedError({ number: last, base: first });
    const count = Math.min(wanted, BLOCKS_MAX, last + 1 - first);
    const oldestBlock = last + 1 - count;
    const rows: BlockFees[] = [];
    const reward: (readonly bigint[])[] = [];
    for (let number = oldestBlock; number <= last; number++) {
      const isPending = number > head;
      const fees = isPending ? pending && blockFees(pending.block.header, config) : cache.at(number);
      if (fees === undefined) continue;
      rows.push(fees);
      if (percentiles.length === 0) continue;
      const executed = isPending ? pending : chain.block(number);
      reward.push(executed ? rewardsOf(executed, percentiles, cache) : []);
    }
    const newestHeader = rows.at(-1)?.header;
    const following = newestHeader ? [newestHeader] : [];
    return {
      oldestBlock,
      ...(percentiles.length > 0 && { reward }),
      baseFeePerGas: [
        ...rows.map(({ baseFeePerGas }) => baseFeePerGas),
        ...following.map((header) => followingBaseFee(header, config)),
      ],
      gasUsedRatio: rows.map(({ gasUsedRatio }) => gasUsedRatio),
      baseFeePerBlobGas: [
        ...rows.map(({ baseFeePerBlobGas }) => baseFeePerBlobGas),
        ...following.map((header) => followingBlobFee(header, config)),
      ],
      blobGasUsedRatio: rows.map(({ blobGasUsedRatio }) => blobGasUsedRatio),
    };
  };
}

function checkPercentiles(percentiles: readonly number[]): void {
  const reject = (text: string): never => {
    throw new InvalidFeeHistoryRequestError(`invalid reward percentile: ${text}`);
  };
  if (percentiles.length > PERCENTILES_MAX) reject(`over the query limit ${PERCENTILES_MAX}`);
  percentiles.forEach((value, index) => {
    if (!(value >= 0 && value <= 100)) reject(value.toFixed(6));
    const before = percentiles[index - 1];
    if (before !== undefined && value <= before) {
      reject(`#${index - 1}:${before.toFixed(6)} >= #${index}:${value.toFixed(6)}`);
    }
  });
}

/** For each percentile of the block's gas the tip of the transaction that reaches it, tips ascending; 0 in an empty block. */
function rewardsOf(executed: ExecutedBlock, percentiles: readonly number[], cache: BlockFeeCache): bigint[] {
  const { tips, gasUpTo } = cache.tipsOf(executed);
  const gasUsed = Number(executed.block.header.gasUsed);
  let index = 0;
  return percentiles.map((percentile) => {
    const threshold = BigInt(Math.trunc((gasUsed * percentile) / 100));
    while (index < tips.length - 1 && gasUpTo[index]! < threshold) index++;
    return tips[index] ?? 0n;
  });
}

function followingBaseFee(header: Header, config: ChainConfig): bigint {
  const isLondon = header.baseFeePerGas !== undefined || isBlockForkActive(config, "londonBlock", header.number + 1);
  return isLondon ? nextBaseFee(header, config) : 0n;
}

/** The rules are those of the header's own time, as geth has it: when the next block will come is not known. */
function followingBlobFee(header: Header, config: ChainConfig): bigint {
  const params = blobParamsAt(config, header.timestamp);
  if (header.excessBlobGas === undefined || !params) return 0n;
  const isOsaka = isTimeForkActive(config, "osakaTime", header.timestamp);
  return blobFeeAt(nextExcessBlobGas(header, params, isOsaka), header, config);
}

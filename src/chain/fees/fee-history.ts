import { invariant, NodeError } from "../../base/errors.ts";
import { blobParamsAt } from "../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { nextBaseFee, nextExcessBlobGas } from "../../base/params/fees.ts";
import { isBlockForkActive, isTimeForkActive } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { andThen, type MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { Header } from "../../base/types/header.ts";
import { gasPaymentsOf } from "../block-store.ts";
import type { ChainReader } from "../reader.ts";
import { BlockPrunedError } from "../store-errors.ts";
import { BlockFeeCache, type BlockFees, blobFeeAt, blockFees, type SortedTips, sortedTips } from "./block-fees.ts";

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
  /** One for each block, and the next block's last. */
  readonly baseFeePerGas: readonly bigint[];
  readonly gasUsedRatio: readonly number[];
  readonly baseFeePerBlobGas: readonly bigint[];
  readonly blobGasUsedRatio: readonly number[];
};

/** Percentiles or a range that eth_feeHistory rejects. The message is geth's. */
class InvalidFeeHistoryRequestError extends NodeError {
  readonly code = "INVALID_FEE_HISTORY_REQUEST";
}

/** Blocks up to `newest`. */
export type FeeHistoryRequest = {
  readonly blockCount: number;
  readonly newest: number | "earliest" | "latest" | "safe" | "finalized" | "pending";
  /** Ascending, 0 to 100. */
  readonly percentiles: readonly number[];
};

type FeeHistoryChain = Pick<
  ChainReader,
  "config" | "head" | "oldest" | "blockHash" | "header" | "gasPayments" | "pending"
>;

/**
 * eth_feeHistory: base fees, fullness and tips of a run of blocks. What was computed of a block is cached; what is not is computed in slices, between
 * which other work runs: a thousand full blocks take a second or two. Nearly all callers ask for the same: the same arguments give the same
 * object until there is another block.
 */
export class FeeHistories {
  readonly #chain: FeeHistoryChain;
  readonly #slices: SharedSlices;
  readonly #cache: BlockFeeCache;
  /** Oldest use first. The hash of the newest block stands for all blocks before it. */
  readonly #stored = new Map<string, FeeHistory>();

  constructor(chain: FeeHistoryChain, slices: SharedSlices) {
    this.#chain = chain;
    this.#slices = slices;
    this.#cache = new BlockFeeCache(chain);
  }

  /** @throws InvalidFeeHistoryRequestError, BlockPrunedError */
  history(request: FeeHistoryRequest): MaybePromise<FeeHistory> {
    const { blockCount, newest, percentiles } = request;
    const last = this.#newestStored(newest);
    // Does not read hashes before the oldest block: a fork would fetch them.
    const isKnown = newest !== "pending" && last >= this.#chain.oldest().block;
    const hash = isKnown ? this.#chain.blockHash(last) : undefined;
    const rowFees = FEES_OF_A_BLOCK + percentiles.length;
    const isStored = Math.min(blockCount, BLOCKS_MAX) * rowFees <= STORED_FEES_MAX;
    if (hash === undefined || !isStored) return this.#compute(request);
    const key = `${hash} ${blockCount} ${percentiles.join()}`;
    const known = this.#stored.get(key);
    if (known !== undefined) {
      this.#store(key, known);
      return known;
    }
    return andThen(this.#compute(request), (history) => {
      this.#store(key, history);
      return history;
    });
  }

  #store(key: string, history: FeeHistory): void {
    this.#stored.delete(key);
    this.#stored.set(key, history);
    for (const oldest of this.#stored.keys()) {
      if (this.#stored.size <= STORED_MAX) break;
      this.#stored.delete(oldest);
    }
  }

  #compute(request: FeeHistoryRequest): MaybePromise<FeeHistory> {
    const collection = this.#begin(request);
    const entered = this.#slices.enter();
    if (entered !== undefined) return this.#computeInSlices(collection, entered);
    if (this.#advance(collection)) return this.#historyOf(collection);
    return this.#computeInSlices(collection, this.#slices.next());
  }

  async #computeInSlices(collection: Collection, turn: Promise<unknown>): Promise<FeeHistory> {
    const { request, last, lastHash } = collection;
    await turn;
    // Blocks were removed meanwhile: from the beginning.
    if (this.#chain.blockHash(last) !== lastHash) return this.#compute(request);
    if (this.#advance(collection)) return this.#historyOf(collection);
    return this.#computeInSlices(collection, this.#slices.next());
  }

  /** @throws InvalidFeeHistoryRequestError, BlockPrunedError */
  #begin(request: FeeHistoryRequest): Collection {
    const { blockCount, newest, percentiles } = request;
    checkPercentiles(percentiles);
    const head = this.#chain.head().block.header.number;
    const last = this.#newestStored(newest);
    if (last > head) {
      throw new InvalidFeeHistoryRequestError(`request beyond head block: requested ${last}, head ${head}`, {
        requested: last,
        head,
      });
    }
    // Where no pending block can be built, the history has one block less.
    const wanted = newest === "pending" ? blockCount - 1 : blockCount;
    const pending = newest === "pending" ? this.#chain.pending()?.executed : undefined;
    // As at block 0, the history is shorter where there are no older blocks.
    const base = this.#chain.oldest().block;
    if (last < base) throw new BlockPrunedError({ number: last, base });
    const count = Math.min(wanted, pending ? BLOCKS_MAX - 1 : BLOCKS_MAX, last + 1 - base);
    const lastHash = this.#chain.blockHash(last);
    invariant(lastHash, "a block between the oldest and the head is stored");
    return { request, first: last + 1 - count, last, lastHash, pending, rows: [] };
  }

  /** The number of the newest block that is read from the store. */
  #newestStored(newest: FeeHistoryRequest["newest"]): number {
    if (typeof newest === "number") return newest;
    return newest === "earliest" ? this.#chain.oldest().block : this.#chain.head().block.header.number;
  }

  /** Adds rows until all are there or the slice is over: whether all are there. @throws BlockPrunedError */
  #advance({ request, first, last, lastHash, rows }: Collection): boolean {
    const { percentiles } = request;
    for (let number = last - rows.length; number >= first; number--) {
      if (this.#slices.isOver()) return false;
      const hash = rows.at(-1)?.fees.header.parentHash ?? lastHash;
      const fees = this.#cache.fees(number, hash);
      const tips = percentiles.length === 0 ? NO_TIPS : this.#cache.tips(number, hash);
      if (fees === undefined || tips === undefined) {
        throw new BlockPrunedError({ number, base: this.#chain.oldest().block });
      }
      rows.push({ fees, reward: rewardsOf(tips, fees.header, percentiles) });
    }
    return true;
  }

  #historyOf({ request, first, pending, rows }: Collection): FeeHistory {
    const { config } = this.#chain;
    const { percentiles } = request;
    const stored = rows.toReversed();
    const all = pending === undefined ? stored : [...stored, pendingRow(pending, percentiles, config)];
    const newest = all.at(-1)?.fees.header;
    const following = newest ? [newest] : [];
    return {
      oldestBlock: first,
      ...(percentiles.length > 0 && { reward: all.map(({ reward }) => reward) }),
      baseFeePerGas: [
        ...all.map(({ fees }) => fees.baseFeePerGas),
        ...following.map((header) => followingBaseFee(header, config)),
      ],
      gasUsedRatio: all.map(({ fees }) => fees.gasUsedRatio),
      baseFeePerBlobGas: [
        ...all.map(({ fees }) => fees.baseFeePerBlobGas),
        ...following.map((header) => followingBlobFee(header, config)),
      ],
      blobGasUsedRatio: all.map(({ fees }) => fees.blobGasUsedRatio),
    };
  }
}

/** What a history has of one block. */
type FeeRow = { readonly fees: BlockFees; readonly reward: readonly bigint[] };

/** A history that is being computed. */
type Collection = {
  readonly request: FeeHistoryRequest;
  /** Numbers of stored blocks. */
  readonly first: number;
  readonly last: number;
  readonly lastHash: Hash;
  /** The block after them, if requested. */
  readonly pending: ExecutedBlock | undefined;
  /** So far, newest first: each header names the block before. */
  readonly rows: FeeRow[];
};

const NO_TIPS: SortedTips = { tips: [], gasUpTo: [] };

function pendingRow(executed: ExecutedBlock, percentiles: readonly number[], config: ChainConfig): FeeRow {
  const { header } = executed.block;
  const fees = blockFees(header, config);
  const tips = sortedTips(gasPaymentsOf(executed), fees.baseFeePerGas);
  return { fees, reward: rewardsOf(tips, header, percentiles) };
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
function rewardsOf({ tips, gasUpTo }: SortedTips, header: Header, percentiles: readonly number[]): bigint[] {
  const gasUsed = Number(header.gasUsed);
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

/** The rules at the header's own time, as in geth, since the time of the next block is unknown. */
function followingBlobFee(header: Header, config: ChainConfig): bigint {
  const params = blobParamsAt(config, header.timestamp);
  if (header.excessBlobGas === undefined || !params) return 0n;
  const isOsaka = isTimeForkActive(config, "osakaTime", header.timestamp);
  return blobFeeAt(nextExcessBlobGas(header, params, isOsaka), header, config);
}

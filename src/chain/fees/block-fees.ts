import { blobParamsAt } from "../../params/blob-schedule.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { blobBaseFee } from "../../params/fees.ts";
import { GAS_PER_BLOB } from "../../params/gas.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { effectiveTip } from "../../types/transaction/fees.ts";
import type { ChainReader } from "../reader.ts";

/** Fees of one block, in wei, that its header gives. */
export type BlockFees = {
  readonly header: Header;
  readonly baseFeePerGas: bigint;
  readonly gasUsedRatio: number;
  readonly baseFeePerBlobGas: bigint;
  readonly blobGasUsedRatio: number;
};

/** Twice the longest history: two callers with ranges of their own both find theirs. A row takes some 2 KB. */
const ROWS_MAX = 2048;

/** The fees of blocks, each computed once while it stays in the cache. */
export class BlockFeeCache {
  readonly #chain: Pick<ChainReader, "config" | "blockHash" | "header">;
  /** By number, oldest use first; the hash says whether the block is still canonical. */
  readonly #rows = new Map<number, { readonly hash: Hash; readonly fees: BlockFees }>();
  /** Lives as long as the decoded block, which the store bounds. */
  readonly #tips = new WeakMap<ExecutedBlock, SortedTips>();

  constructor(chain: Pick<ChainReader, "config" | "blockHash" | "header">) {
    this.#chain = chain;
  }

  /** undefined where there is no block `number`. */
  at(number: number): BlockFees | undefined {
    const hash = this.#chain.blockHash(number);
    if (hash === undefined) return undefined;
    const row = this.#rows.get(number);
    this.#rows.delete(number);
    const header = row?.hash === hash ? row.fees.header : this.#chain.header(number);
    if (header === undefined) return undefined;
    const fees = row?.hash === hash ? row.fees : blockFees(header, this.#chain.config);
    this.#rows.set(number, { hash, fees });
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= ROWS_MAX) break;
      this.#rows.delete(oldest);
    }
    return fees;
  }

  /** The tips of the block's transactions, ascending. */
  tipsOf(executed: ExecutedBlock): SortedTips {
    let tips = this.#tips.get(executed);
    if (tips === undefined) {
      tips = sortedTips(executed);
      this.#tips.set(executed, tips);
    }
    return tips;
  }
}

export function blockFees(header: Header, config: ChainConfig): BlockFees {
  const { baseFeePerGas = 0n, gasUsed, gasLimit, excessBlobGas } = header;
  return {
    header,
    baseFeePerGas,
    gasUsedRatio: Number(gasUsed) / Number(gasLimit),
    baseFeePerBlobGas: blobFeeAt(excessBlobGas, header, config),
    blobGasUsedRatio: blobGasUsedRatio(header, config),
  };
}

/** Wei per blob gas; 0 before Cancun. */
export function blobFeeAt(excessBlobGas: bigint | undefined, { timestamp }: Header, config: ChainConfig): bigint {
  const params = blobParamsAt(config, timestamp);
  return excessBlobGas === undefined || !params ? 0n : blobBaseFee(excessBlobGas, params);
}

function blobGasUsedRatio({ blobGasUsed, timestamp }: Header, config: ChainConfig): number {
  const params = blobParamsAt(config, timestamp);
  if (blobGasUsed === undefined || !params) return 0;
  return Number(blobGasUsed) / (params.max * Number(GAS_PER_BLOB));
}

/** Tips of a block's transactions in wei, ascending, and the gas used by the transactions up to each. */
export type SortedTips = {
  readonly tips: readonly bigint[];
  readonly gasUpTo: readonly bigint[];
};

function sortedTips({ block, receipts }: ExecutedBlock): SortedTips {
  const { baseFeePerGas = 0n } = block.header;
  const sorted = block.transactions
    .map((tx, index) => ({
      tip: effectiveTip(tx, baseFeePerGas),
      gasUsed: receipts[index]?.gasUsed ?? 0n,
    }))
    .sort((a, b) => (a.tip < b.tip ? -1 : a.tip > b.tip ? 1 : 0));
  let sum = 0n;
  return {
    tips: sorted.map(({ tip }) => tip),
    gasUpTo: sorted.map(({ gasUsed }) => (sum += gasUsed)),
  };
}

import { blobParamsAt } from "../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { blobBaseFee } from "../../base/params/fees.ts";
import { GAS_PER_BLOB } from "../../base/params/gas.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Header } from "../../base/types/header.ts";
import type { GasPayment } from "../block-store.ts";
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

/** Tips of all blocks in the cache, some 64 bytes each: 8 MB. */
const TIPS_MAX = 131_072;

/** What is cached of a block. */
type Row = {
  readonly hash: Hash;
  readonly fees: BlockFees;
  /** undefined until somebody asks for it. */
  tips: SortedTips | undefined;
};

/** The fees of blocks, each computed once while it stays in the cache. */
export class BlockFeeCache {
  readonly #chain: Pick<ChainReader, "config" | "blockHash" | "header" | "gasPayments">;
  /** By number, oldest use first. */
  readonly #rows = new Map<number, Row>();
  #tipCount = 0;

  constructor(chain: Pick<ChainReader, "config" | "blockHash" | "header" | "gasPayments">) {
    this.#chain = chain;
  }

  /** The fees of block `number`; undefined where the chain has another one there than that of `hash`. */
  fees(number: number, hash: Hash): BlockFees | undefined {
    return this.#row(number, hash)?.fees;
  }

  /** The tips of its transactions, likewise. */
  tips(number: number, hash: Hash): SortedTips | undefined {
    const row = this.#row(number, hash);
    if (row === undefined || row.tips !== undefined) return row?.tips;
    const payments = this.#chain.blockHash(number) === hash ? this.#chain.gasPayments(number) : undefined;
    if (payments === undefined) return undefined;
    row.tips = sortedTips(payments, row.fees.baseFeePerGas);
    this.#tipCount += row.tips.tips.length;
    this.#shrink();
    return row.tips;
  }

  #row(number: number, hash: Hash): Row | undefined {
    const known = this.#rows.get(number);
    if (known?.hash === hash) {
      this.#rows.delete(number);
      this.#rows.set(number, known);
      return known;
    }
    this.#drop(number);
    const header = this.#chain.blockHash(number) === hash ? this.#chain.header(number) : undefined;
    if (header === undefined) return undefined;
    const row = { hash, fees: blockFees(header, this.#chain.config), tips: undefined };
    this.#rows.set(number, row);
    this.#shrink();
    return row;
  }

  #shrink(): void {
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= ROWS_MAX && this.#tipCount <= TIPS_MAX) break;
      this.#drop(oldest);
    }
  }

  #drop(number: number): void {
    this.#tipCount -= this.#rows.get(number)?.tips?.tips.length ?? 0;
    this.#rows.delete(number);
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

/** The different tips of a block's transactions in wei, ascending, and the gas used by the transactions that offered up to as much. */
export type SortedTips = {
  readonly tips: readonly bigint[];
  readonly gasUpTo: readonly bigint[];
};

export function sortedTips(payments: readonly GasPayment[], baseFee: bigint): SortedTips {
  const gasByTip = new Map<bigint, bigint>();
  for (const { effectiveGasPrice, gasUsed } of payments) {
    const tip = effectiveGasPrice - baseFee;
    gasByTip.set(tip, (gasByTip.get(tip) ?? 0n) + gasUsed);
  }
  const sorted = [...gasByTip].sort(([a], [b]) => (a < b ? -1 : 1));
  let sum = 0n;
  return { tips: sorted.map(([tip]) => tip), gasUpTo: sorted.map(([, gasUsed]) => (sum += gasUsed)) };
}

import type { Hash } from "../../base/primitives/hash.ts";
import type { ChainReader } from "../reader.ts";

/** As in geth; prices in wei. */
export type GasPriceOracleOptions = {
  /** Blocks that are sampled. */
  readonly blocks: number;
  /** Which of the sorted tips is suggested, 0 to 100. */
  readonly percentile: number;
  readonly maxPrice: bigint;
  /** Tips below this are left out. */
  readonly ignorePrice: bigint;
  /** Suggested until a block has a transaction: the least tip that block building includes. */
  readonly startPrice: bigint;
};

const GAS_PRICE_ORACLE_DEFAULTS: GasPriceOracleOptions = {
  blocks: 20,
  percentile: 60,
  maxPrice: 500_000_000_000n,
  ignorePrice: 2n,
  startPrice: 1_000_000n,
};

/** The lowest tips of a block that count. */
const SAMPLES_PER_BLOCK = 3;

type OracleChain = Pick<ChainReader, "config" | "head" | "oldest" | "blockHash" | "header" | "gasPayments">;

/** The lowest tips of a block, ascending; the hash says whether it is still canonical. */
type Sample = { readonly hash: Hash | undefined; readonly tips: readonly bigint[] };

/**
 * An oracle that learns from the tips in the newest blocks, as geth's does. Where the chain has no base fee, gas is not sold to who offers most:
 * it suggests the least tip that the blocks accept, so that wallets without funds can send.
 */
export class GasPriceOracle {
  readonly #settings: GasPriceOracleOptions;
  readonly #leastTip: bigint;
  readonly #chain: OracleChain;
  /** By number, of the blocks that count for the last head. */
  #samples: ReadonlyMap<number, Sample> = new Map();
  #lastHead: Hash | undefined;
  #lastPrice: bigint;

  constructor(options: Partial<GasPriceOracleOptions>, chain: OracleChain) {
    this.#settings = { ...GAS_PRICE_ORACLE_DEFAULTS, ...options };
    this.#leastTip = options.startPrice ?? 0n;
    this.#chain = chain;
    this.#lastPrice = this.#settings.startPrice;
  }

  /** A tip with which a transaction should be mined soon, in wei. Found anew once a head. */
  suggestTip(): bigint {
    const { zeroBaseFee, minimumTip = 0n } = this.#chain.config;
    if (zeroBaseFee) return greater(minimumTip, this.#leastTip);
    const { hash, header } = this.#chain.head().block;
    if (hash !== this.#lastHead) {
      const tips = this.#collectTips(header.number).sort(compare);
      const { percentile, maxPrice } = this.#settings;
      const price = tips[Math.floor(((tips.length - 1) * percentile) / 100)] ?? this.#lastPrice;
      this.#lastPrice = price > maxPrice ? maxPrice : price;
      this.#lastHead = hash;
    }
    return greater(this.#lastPrice, minimumTip);
  }

  /** Tips of the newest blocks; for each block with at most one, an older block is sampled too, up to twice as many. */
  #collectTips(head: number): bigint[] {
    const { blocks } = this.#settings;
    const samples = new Map<number, Sample>();
    const tips: bigint[] = [];
    let waiting = Math.min(blocks, head);
    /** Older blocks left beyond those that are sampled anyway. */
    let beyond = head - waiting;
    // A chain that began with a snapshot, or as a fork, has no older blocks: what there is has to do. A fork would fetch their hashes.
    const oldest = this.#chain.oldest().block;
    for (let number = head; waiting > 0 && number >= oldest; number--) {
      waiting--;
      const sample = this.#sampleOf(number);
      samples.set(number, sample);
      const values = sample.tips.length === 0 ? [this.#lastPrice] : sample.tips;
      if (values.length === 1 && tips.length + 1 + waiting < blocks * 2 && beyond > 0) {
        waiting++;
        beyond--;
      }
      tips.push(...values);
    }
    this.#samples = samples;
    return tips;
  }

  #sampleOf(number: number): Sample {
    const hash = this.#chain.blockHash(number);
    const known = this.#samples.get(number);
    return known !== undefined && known.hash === hash ? known : { hash, tips: this.#lowestTips(number) };
  }

  #lowestTips(number: number): readonly bigint[] {
    const header = this.#chain.header(number);
    const payments = this.#chain.gasPayments(number);
    if (header === undefined || payments === undefined) return [];
    const { coinbase, baseFeePerGas = 0n } = header;
    return payments
      .map(({ effectiveGasPrice, sender }) => ({ tip: effectiveGasPrice - baseFeePerGas, sender }))
      .filter(({ tip, sender }) => tip >= this.#settings.ignorePrice && sender !== coinbase)
      .map(({ tip }) => tip)
      .sort(compare)
      .slice(0, SAMPLES_PER_BLOCK);
  }
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import type { Hash } from "../../primitives/hash.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import { effectiveTip } from "../../types/transaction/fees.ts";
import type { ChainReader } from "../reader.ts";
import { BlockPrunedError } from "../store/store-errors.ts";

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

export interface GasPriceOracle {
  /** A tip with which a transaction should be mined soon, in wei. Found anew once a head. */
  suggestTip(): bigint;
}

/**
 * An oracle that learns from the tips in the newest blocks, as geth's does. Where the chain has no base fee, gas is not sold to who offers most:
 * it suggests the least tip that the blocks accept, so that wallets without funds can send.
 */
export function createGasPriceOracle(
  options: Partial<GasPriceOracleOptions>,
  { chain }: { readonly chain: Pick<ChainReader, "config" | "head" | "block"> },
): GasPriceOracle {
  const { config } = chain;
  const leastTip = () => greater(config.minimumTip ?? 0n, options.startPrice ?? 0n);
  const settings = { ...GAS_PRICE_ORACLE_DEFAULTS, ...options };
  let lastHead: Hash | undefined;
  let lastPrice = settings.startPrice;
  return {
    suggestTip() {
      if (config.zeroBaseFee) return leastTip();
      const head = chain.head();
      if (head.block.hash === lastHead) return greater(lastPrice, config.minimumTip ?? 0n);
      const tips = collectTips(head, chain, lastPrice, settings);
      tips.sort(compare);
      const index = Math.floor(((tips.length - 1) * settings.percentile) / 100);
      const price = tips[index] ?? lastPrice;
      lastPrice = price > settings.maxPrice ? settings.maxPrice : price;
      lastHead = head.block.hash;
      return greater(lastPrice, config.minimumTip ?? 0n);
    },
  };
}

/** A chain that began with a snapshot, or as a fork, has no older blocks: what there is has to do. */
function storedBlock(number: number, chain: Pick<ChainReader, "block">): ExecutedBlock | "pruned" | undefined {
  try {
    return chain.block(number);
  } catch (error) {
    if (error instanceof BlockPrunedError) return "pruned";
    throw error;
  }
}

/** Tips of the newest blocks; for each block with at most one, an older block is sampled too, up to twice as many. */
function collectTips(
  head: ExecutedBlock,
  chain: Pick<ChainReader, "block">,
  lastPrice: bigint,
  { blocks, ignorePrice }: GasPriceOracleOptions,
): bigint[] {
  const tips: bigint[] = [];
  let number = head.block.header.number;
  let waiting = Math.min(blocks, number);
  /** Older blocks left beyond those that are sampled anyway. */
  let beyond = number - waiting;
  for (; waiting > 0; number--) {
    waiting--;
    const executed = storedBlock(number, chain);
    if (executed === "pruned") break;
    const found = executed ? lowestTips(executed, ignorePrice) : [];
    const values = found.length === 0 ? [lastPrice] : found;
    if (values.length === 1 && tips.length + 1 + waiting < blocks * 2 && beyond > 0) {
      waiting++;
      beyond--;
    }
    tips.push(...values);
  }
  return tips;
}

function lowestTips({ block, senders }: ExecutedBlock, ignorePrice: bigint): bigint[] {
  const { coinbase, baseFeePerGas = 0n } = block.header;
  return block.transactions
    .map((tx, index) => ({ tip: effectiveTip(tx, baseFeePerGas), sender: senders[index] }))
    .filter(({ tip, sender }) => tip >= ignorePrice && sender !== coinbase)
    .map(({ tip }) => tip)
    .sort(compare)
    .slice(0, SAMPLES_PER_BLOCK);
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

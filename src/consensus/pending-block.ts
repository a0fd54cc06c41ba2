import type { Chain } from "../chain/chain.ts";
import type { PendingBlock } from "../chain/reader.ts";
import { nextGasLimit } from "../execution/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import { ZERO_ADDRESS } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { BeginBlock } from "./block-factory.ts";
import { packTransactions } from "./pack-transactions.ts";

/** A built block is used again for this long while head and pool stay the same: only its timestamp would move. */
const REUSE_MS = 2_000;

/** Bytes of transactions and milliseconds one pending block may take. */
const PACKING_LIMITS = { bytesMax: 7_388_608, timeMs: 500 };

/**
 * The block tag `pending`: a block really built on the head from the pool, paid to nobody.
 * @returns a function that gives the current one
 */
export function createPendingBlocks(
  options: { readonly gasLimitTarget: bigint; readonly minimumTip: () => bigint },
  modules: {
    readonly chain: Chain;
    readonly mempool: Mempool;
    readonly beginBlock: BeginBlock;
    readonly nowSeconds: () => number;
  },
): () => PendingBlock {
  const { chain, mempool, beginBlock, nowSeconds } = modules;
  let built: { head: Hash; version: number; at: number; block: PendingBlock } | undefined;

  return () => {
    const head = chain.head().block;
    const at = performance.now();
    if (
      built?.head === head.hash &&
      built.version === mempool.version() &&
      at - built.at < REUSE_MS
    ) {
      return built.block;
    }
    const version = mempool.version();
    const builder = beginBlock({
      timestamp: Math.max(nowSeconds(), head.header.timestamp),
      coinbase: ZERO_ADDRESS,
      gasLimit: nextGasLimit(head.header.gasLimit, options.gasLimitTarget),
    });
    const limits = { ...PACKING_LIMITS, minimumTip: options.minimumTip() };
    packTransactions(builder, limits, { mempool, config: chain.config });
    const { executed, state, changes } = builder.seal();
    built = { head: head.hash, version, at, block: { executed, state, changes } };
    return built.block;
  };
}

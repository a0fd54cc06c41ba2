import type { ChainReader } from "../../../chain/reader.ts";
import type { PoolReader } from "../../../mempool/pool.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, optional, quantity } from "../../params/codec.ts";
import { resolveState } from "../../ports/resolve.ts";

/**
 * `eth_getTransactionCount`: nonce of `account` in the state after `block`. For `pending` it is the pool's next nonce; no block is
 * built for that.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getTransactionCount = defineMethod({
  name: "eth_getTransactionCount",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: quantity,
  handle({ account, block }, { chain, pool }: { chain: ChainReader; pool: PoolReader }) {
    if (block === "pending") return pool.nonceOf(account);
    return resolveState(chain, block).state.account(account)?.nonce ?? 0n;
  },
});

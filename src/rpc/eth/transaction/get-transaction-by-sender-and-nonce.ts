import type { ChainReader } from "../../../chain/reader.ts";
import type { PoolReader } from "../../../mempool/pool.ts";
import type { Address } from "../../../primitives/address.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText } from "../../json/block-json.ts";
import { transactionText } from "../../json/transaction-json.ts";
import { address, quantity64, rawJson } from "../../params/codec.ts";

/** `eth_getTransactionBySenderAndNonce`: the sender's transaction with that nonce, mined or pooled; null when there is none. */
export const getTransactionBySenderAndNonce = defineMethod({
  name: "eth_getTransactionBySenderAndNonce",
  params: { sender: address, nonce: quantity64 },
  result: rawJson,
  handle({ sender, nonce }, { chain, pool }: { chain: ChainReader; pool: PoolReader }) {
    const number = blockThatUsed(sender, nonce, chain);
    if (number === undefined) {
      const { pending, queued } = pool.contentFrom(sender);
      const pooled = [...pending, ...queued].find(({ tx }) => tx.nonce === nonce);
      return pooled ? transactionText(pooled.tx, sender) : "null";
    }
    const executed = chain.blockByNumber(number)!;
    const index = executed.block.transactions.findIndex(
      (tx, i) => tx.nonce === nonce && executed.senders[i] === sender,
    );
    // A nonce is also used up by an authorization (EIP-7702) or by a contract that creates another.
    return index === -1 ? "null" : minedTransactionText(executed, index);
  },
});

/** The first block after which the account's nonce is above `nonce`; nonces only rise, so halving finds it. */
function blockThatUsed(sender: Address, nonce: bigint, chain: ChainReader): number | undefined {
  const isUsed = (number: number) => (chain.stateAt(number).account(sender)?.nonce ?? 0n) > nonce;
  let high = chain.head().block.header.number;
  if (!isUsed(high)) return undefined;
  let low = -1;
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (isUsed(middle)) high = middle;
    else low = middle;
  }
  return high;
}

import { defineMethod } from "../dispatch/method.ts";
import { address, hash, nullable } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";

/** `ots_getTransactionBySenderAndNonce`: hash of the mined transaction of `sender` with that nonce; null where there is none. */
export const getTransactionBySenderAndNonce = defineMethod({
  name: "ots_getTransactionBySenderAndNonce",
  params: { sender: address, nonce: lenientInteger },
  result: nullable(hash),
  handle: ({ sender, nonce }, { chain }: { chain: Pick<ChainView, "transactionBySender"> }) =>
    andThen(
      chain.transactionBySender(sender, BigInt(nonce)),
      ({ mined }) => mined?.tx.hash ?? null,
    ),
});

import { defineMethod } from "../../dispatch/method.ts";
import { boolean, optional, string } from "../../params/codec.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";

/**
 * `eth_newPendingTransactionFilter`: id of a filter for transactions that become executable: their hashes, or themselves when
 * `isFull`.
 *
 * @throws TooManyError
 */
export const newPendingTransactionFilter = defineMethod({
  name: "eth_newPendingTransactionFilter",
  params: { isFull: optional(boolean, false) },
  result: string,
  handle: ({ isFull }, { sessions }: { sessions: Pick<Sessions, "filters"> }, { connection }) =>
    sessions.filters.addPending(isFull, connection),
});

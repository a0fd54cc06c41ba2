import type { Hash } from "../../../primitives/hash.ts";
import { ReceiptTimeoutError, RequestTimeoutError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { receiptText } from "../../json/receipt-json.ts";
import { data, jsonUnsigned, optional, rawJson } from "../../params/codec.ts";
import type { ChainView, MinedReceipt } from "../../ports/chain-view.ts";

/** A waiting call occupies a slot of its connection: twenty seconds where the caller names no time, a minute at most. */
const TIMEOUT_MS = 20_000;
const TIMEOUT_MS_MAX = 60_000;

/**
 * `eth_sendRawTransactionSync`: as `eth_sendRawTransaction`, but answers with the receipt once the transaction is mined.
 *
 * @throws ReceiptTimeoutError and what submitting throws
 * @see EIP-7966
 */
export const sendRawTransactionSync = defineMethod({
  name: "eth_sendRawTransactionSync",
  params: { raw: data, timeoutMs: optional(jsonUnsigned, 0) },
  result: rawJson,
  async handle(
    { raw, timeoutMs },
    { chain }: { chain: Pick<ChainView, "submit" | "receipt" | "subscribe"> },
    { signal },
  ) {
    const hash = await chain.submit(raw);
    const wanted = timeoutMs > 0 ? Math.min(timeoutMs, TIMEOUT_MS_MAX) : TIMEOUT_MS;
    return receiptText(await receiptOf(hash, wanted, chain, signal));
  },
});

/** The receipt of `hash`, as soon as it is in a block. */
function receiptOf(
  hash: Hash,
  timeoutMs: number,
  chain: Pick<ChainView, "receipt" | "subscribe">,
  signal: AbortSignal,
): Promise<MinedReceipt> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => end(() => reject(new RequestTimeoutError()));
    const look = async (): Promise<void> => {
      try {
        const mined = await chain.receipt(hash);
        if (mined) end(() => resolve(mined));
      } catch (error) {
        end(() => reject(error));
      }
    };
    const stop = chain.subscribe({
      onBlock({ block }) {
        if (block.transactions.some((tx) => tx.hash === hash)) void look();
      },
    });
    const timer = setTimeout(
      () => end(() => reject(new ReceiptTimeoutError(hash, timeoutMs))),
      timeoutMs,
    );
    signal.addEventListener("abort", onAbort);
    // It may be in a block already; of a later one the event comes after the subscription.
    void look();
  });
}

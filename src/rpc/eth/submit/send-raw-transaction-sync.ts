import type { ChainReader } from "../../../chain/reader.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { ReceiptTimeoutError, RequestTimeoutError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { receiptText } from "../../json/receipt-json.ts";
import { data, jsonInteger, optional, rawJson } from "../../params/codec.ts";
import type { ChainEvents } from "../../ports/chain-events.ts";
import type { Submit } from "../../ports/execution.ts";

const TIMEOUT_MS = 20_000;
const TIMEOUT_MS_MAX = 60_000;

/**
 * `eth_sendRawTransactionSync`: as `eth_sendRawTransaction`, but answers with the receipt once the transaction is mined.
 *
 * @throws what submitting throws, ReceiptTimeoutError
 * @see EIP-7966
 */
export const sendRawTransactionSync = defineMethod({
  name: "eth_sendRawTransactionSync",
  params: { raw: data, timeoutMs: optional(jsonInteger, 0) },
  result: rawJson,
  async handle(
    { raw, timeoutMs },
    { chain, submit, events }: { chain: ChainReader; submit: Submit; events: ChainEvents },
    context,
  ) {
    const hash = await submit(raw);
    const wanted = timeoutMs > 0 ? Math.min(timeoutMs, TIMEOUT_MS_MAX) : TIMEOUT_MS;
    await mined(hash, wanted, { chain, events, signal: context.signal });
    const { executed, index } = chain.transaction(hash)!;
    return receiptText(executed, index);
  },
});

/** Resolves when the transaction is in the chain. */
function mined(
  hash: Hash,
  timeoutMs: number,
  { chain, events, signal }: { chain: ChainReader; events: ChainEvents; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const isMined = () => chain.transaction(hash) !== undefined;
    if (isMined()) return resolve();
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => end(() => reject(new RequestTimeoutError()));
    const stop = events.onBlock(() => {
      if (isMined()) end(resolve);
    });
    const timer = setTimeout(
      () => end(() => reject(new ReceiptTimeoutError(hash, timeoutMs))),
      timeoutMs,
    );
    signal.addEventListener("abort", onAbort);
  });
}

import type { PoolContent, PooledTransaction } from "../../mempool/pool.ts";
import { type Address, checksumAddress } from "../../primitives/address.ts";

/** JSON text of one pooled transaction. */
export type PooledText = (pooled: PooledTransaction) => string;

/** `{pending, queued}`, each by sender (EIP-55) and nonce (decimal). */
export function contentText({ pending, queued }: PoolContent, text: PooledText): string {
  return `{"pending":${bySenderText(pending, text)},"queued":${bySenderText(queued, text)}}`;
}

/** By nonce (decimal). */
export function byNonceText(pooled: readonly PooledTransaction[], text: PooledText): string {
  return `{${pooled.map((entry) => `"${entry.tx.nonce}":${text(entry)}`).join(",")}}`;
}

function bySenderText(
  bySender: ReadonlyMap<Address, readonly PooledTransaction[]>,
  text: PooledText,
): string {
  const members: string[] = [];
  for (const [sender, pooled] of bySender) {
    if (pooled.length === 0) continue;
    members.push(`"${checksumAddress(sender)}":${byNonceText(pooled, text)}`);
  }
  return `{${members.join(",")}}`;
}

import type { Hardfork } from "../../params/hardforks.ts";
import { ADDRESS_LENGTH } from "../../primitives/address.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { serveThread } from "../../threads/serve-thread.ts";
import { recoverSenderKeys } from "./sender.ts";

type RecoverInput = {
  /** Canonical transactions one after the other, each after its length as u32, little endian. */
  readonly transactions: Uint8Array;
  readonly hardfork: Hardfork;
};

/** A whole batch of `recoverPublicKeys` without the native addon. */
const BATCH_LENGTH = 64;

export const senderRecovery = { recover };
serveThread(senderRecovery);

/** Senders, 20 bytes each, of the transactions before the first that has none. */
function recover({ transactions, hardfork }: RecoverInput): Uint8Array {
  const all = unpacked(transactions);
  const senders = new Uint8Array(ADDRESS_LENGTH * all.length);
  let count = 0;
  for (let at = 0; at < all.length; at += BATCH_LENGTH) {
    const batch = all.slice(at, at + BATCH_LENGTH);
    const keys = recoverSenderKeys(batch, hardfork);
    for (const key of keys) {
      senders.set(keccak256(key).subarray(-ADDRESS_LENGTH), ADDRESS_LENGTH * count);
      count++;
    }
    // The executor recovers this sender again and reports what is wrong with the signature.
    if (keys.length < batch.length) break;
  }
  return senders.slice(0, ADDRESS_LENGTH * count);
}

function unpacked(packed: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const transactions: Uint8Array[] = [];
  for (let at = 0; at < packed.length; ) {
    const end = at + 4 + view.getUint32(at, true);
    transactions.push(packed.subarray(at + 4, end));
    at = end;
  }
  return transactions;
}

import { NodeError } from "../../errors.ts";
import type { Hardfork } from "../../params/hardforks.ts";
import { ADDRESS_LENGTH } from "../../primitives/address.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import { serveThread } from "../../threads/serve-thread.ts";
import { decodePooledTransaction } from "./decode.ts";
import { unpackTransactions } from "./packed-transactions.ts";
import { recoverSender, recoverSenderKeys } from "./sender.ts";

type RecoverInput = {
  /** Canonical, in the form of `packTransactions`. */
  readonly transactions: Uint8Array;
  readonly hardfork: Hardfork;
};

/** A full batch of `recoverPublicKeys` without the native addon. */
const BATCH_LENGTH = 64;

export const senderRecovery = { recover, recoverEach };
serveThread(senderRecovery);

/** Senders, 20 bytes each, of the transactions before the first invalid signature. */
function recover({ transactions, hardfork }: RecoverInput): Uint8Array {
  const all = unpackTransactions(transactions);
  const senders = new Uint8Array(ADDRESS_LENGTH * all.length);
  let count = 0;
  for (let at = 0; at < all.length; at += BATCH_LENGTH) {
    const batch = all.slice(at, at + BATCH_LENGTH);
    const keys = recoverSenderKeys(batch, hardfork);
    for (const key of keys) {
      senders.set(keccak256(key).subarray(-ADDRESS_LENGTH), ADDRESS_LENGTH * count);
      count++;
    }
    // The executor recovers this sender again and reports the fault.
    if (keys.length < batch.length) break;
  }
  return senders.slice(0, ADDRESS_LENGTH * count);
}

/** Senders, 20 bytes each; zeros for invalid signatures. @param packed transactions in network form */
function recoverEach(packed: Uint8Array): Uint8Array {
  const transactions = unpackTransactions(packed);
  const senders = new Uint8Array(ADDRESS_LENGTH * transactions.length);
  for (const [i, transaction] of transactions.entries()) {
    try {
      senders.set(hexToBytes(recoverSender(decodePooledTransaction(transaction).tx)), ADDRESS_LENGTH * i);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
    }
  }
  return senders;
}

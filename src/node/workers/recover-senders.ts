import type { Hardfork } from "../../params/hardforks.ts";
import { addressToBytes } from "../../primitives/address.ts";
import { decodeTransaction } from "../../types/transaction/decode.ts";
import { recoverSender } from "../../types/transaction/sender.ts";
import { serveTasks } from "./serve-tasks.ts";

export type RecoverInput = {
  /** Canonical transactions one after the other, each after its length as u32, little endian. */
  readonly transactions: Uint8Array;
  readonly hardfork: Hardfork;
};

/** Senders, 20 bytes each, of the transactions before the first that has none. */
export type RecoverResult = Uint8Array;

serveTasks(recoverSenders);

export function recoverSenders({ transactions, hardfork }: RecoverInput): RecoverResult {
  const bytes = Buffer.from(transactions.buffer, transactions.byteOffset, transactions.byteLength);
  const senders: Uint8Array[] = [];
  try {
    for (let at = 0; at < bytes.length; ) {
      const end = at + 4 + bytes.readUInt32LE(at);
      const transaction = decodeTransaction(bytes.subarray(at + 4, end));
      senders.push(addressToBytes(recoverSender(transaction, hardfork)));
      at = end;
    }
  } catch {
    // The executor recovers this sender again and reports what is wrong with the signature.
  }
  return Uint8Array.from(Buffer.concat(senders));
}

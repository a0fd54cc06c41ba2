import type { Hardfork } from "../../params/hardforks.ts";
import { ADDRESS_LENGTH, addressToBytes } from "../../primitives/address.ts";
import { decodeTransaction } from "../../types/transaction/decode.ts";
import { recoverSenders } from "../../types/transaction/sender.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";
import { serveTasks } from "./serve-tasks.ts";

export type RecoverInput = {
  /** Canonical transactions one after the other, each after its length as u32, little endian. */
  readonly transactions: Uint8Array;
  readonly hardfork: Hardfork;
};

/** Senders, 20 bytes each, of the transactions before the first that has none. */
export type RecoverResult = Uint8Array;

serveTasks(recoverPacked);

export function recoverPacked({ transactions, hardfork }: RecoverInput): RecoverResult {
  const bytes = Buffer.from(transactions.buffer, transactions.byteOffset, transactions.byteLength);
  const decoded: Transaction[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    decoded.push(decodeTransaction(bytes.subarray(at + 4, end)));
    at = end;
  }
  const senders = recoverSenders(decoded, hardfork);
  const result = new Uint8Array(senders.length * ADDRESS_LENGTH);
  senders.forEach((sender, i) => {
    result.set(addressToBytes(sender), i * ADDRESS_LENGTH);
  });
  return result;
}

import type { Hardfork } from "../../params/hardforks.ts";
import { addressToBytes } from "../../primitives/address.ts";
import { serveThread } from "../../threads/serve-thread.ts";
import { decodeTransaction } from "./decode.ts";
import { recoverSenders } from "./sender.ts";
import type { Transaction } from "./transaction.ts";

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
  const parts: Uint8Array[] = [];
  for (const batch of batchesIn(transactions)) {
    const senders = recoverSenders(batch, hardfork);
    for (const sender of senders) parts.push(addressToBytes(sender));
    // The executor recovers this sender again and reports what is wrong with the signature.
    if (senders.length < batch.length) break;
  }
  return Uint8Array.from(Buffer.concat(parts));
}

/** Decoded as they are needed, so that they die young. */
function* batchesIn(packed: Uint8Array): Generator<readonly Transaction[]> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const batch: Transaction[] = [];
    while (at < bytes.length && batch.length < BATCH_LENGTH) {
      const end = at + 4 + bytes.readUInt32LE(at);
      batch.push(decodeTransaction(bytes.subarray(at + 4, end)));
      at = end;
    }
    yield batch;
  }
}

import { NodeError } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { hardforkAt } from "../../base/params/hardforks.ts";
import { ADDRESS_LENGTH, type Address, addressFromBytes } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { Pool } from "../../base/threads/pool.ts";
import { readCanonicalTransactions } from "../../base/types/block-codec.ts";
import { packTransactions } from "../../base/types/transaction/packed-transactions.ts";
import type { senderRecovery } from "../../base/types/transaction/recover-senders.thread.ts";
import type { EncodedBlock } from "./chain-file.ts";

export type SenderRecovery<Item extends EncodedBlock = EncodedBlock> = {
  /** Senders of the first transactions of `block`; all of them unless a signature is invalid or the thread failed. */
  recover(block: Item): Promise<readonly Address[]>;
  close(): Promise<void>;
};

/** Far longer than a task takes on a machine that swaps: only a hanging thread reaches it. */
const RECOVERY_MS_MAX = 120_000;

/** Fewer transactions are not worth a message to a thread. */
const TRANSACTIONS_MIN = 4;
/** Transactions of one task, about 50 ms: all threads share the first block, and none has much left when the others become idle. */
const PART_LENGTH = 512;
/** Tasks queued for a thread, about 400 ms of work: with only one, the thread would idle until the chain's thread has executed its block. */
const PARTS_QUEUED = 16;

export function createSenderRecovery(
  config: ChainConfig,
  { threadCount, log, timers }: { readonly threadCount: number; readonly log: Logger; readonly timers: Timers },
): SenderRecovery {
  const threads = new Pool<typeof senderRecovery>(
    {
      entry: "base/types/transaction/recover-senders.thread",
      count: threadCount,
      waitingMax: Number.POSITIVE_INFINITY,
      callsMax: PARTS_QUEUED,
      heapMegabytesMax: 256,
      onLost: (error) => log.warn("sender recovery failed", { error }),
    },
    timers,
  );
  return {
    async recover({ header, bytes }) {
      const transactions = canonicalTransactions(bytes);
      if (transactions.length < TRANSACTIONS_MIN) return [];
      const hardfork = hardforkAt(config, header);
      const parts: Promise<Uint8Array>[] = [];
      for (let at = 0; at < transactions.length; at += PART_LENGTH) {
        const part = packTransactions(transactions.slice(at, at + PART_LENGTH));
        const options = { timeoutMs: RECOVERY_MS_MAX };
        parts.push(threads.call("recover", { transactions: part, hardfork }, options));
      }
      try {
        return firstSenders(await Promise.all(parts));
      } catch {
        // The executor recovers the senders instead: slower, but with the same result.
        return [];
      }
    },
    close: () => threads.close(),
  };
}

/**
 * Yields the items of `source` with the senders of their blocks, while up to `ahead` further blocks are read and recovered. If the source fails,
 * the items before the failure come first.
 * @param isWanted false for a block whose senders are not needed
 */
export async function* recoverAhead<Item extends EncodedBlock>(
  source: AsyncIterable<Item>,
  recovery: SenderRecovery<Item>,
  { ahead, isWanted }: { readonly ahead: number; readonly isWanted: (block: Item) => boolean },
): AsyncGenerator<Item & { readonly senders: readonly Address[] }> {
  const items = source[Symbol.asyncIterator]();
  const queue: { readonly item: Item; readonly senders: Promise<readonly Address[]> }[] = [];
  let failure: { readonly error: unknown } | undefined;
  let isAtEnd = false;
  try {
    for (;;) {
      while (!isAtEnd && queue.length <= ahead) {
        try {
          const { done, value: item } = await items.next();
          if (done) isAtEnd = true;
          else {
            const senders = isWanted(item) ? recovery.recover(item) : NO_SENDERS;
            queue.push({ item, senders });
          }
        } catch (error) {
          failure = { error };
          isAtEnd = true;
        }
      }
      const first = queue.shift();
      if (first === undefined) break;
      yield { ...first.item, senders: await first.senders };
    }
  } finally {
    await items.return?.();
  }
  if (failure) throw failure.error;
}

const NO_SENDERS: Promise<readonly Address[]> = Promise.resolve([]);

/** Empty for a malformed block: decoding it reports the fault when its turn comes. */
function canonicalTransactions(bytes: Uint8Array): readonly Uint8Array[] {
  try {
    return readCanonicalTransactions(bytes);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return [];
  }
}

/** The senders in `parts`, up to the end of the first incomplete part. */
function firstSenders(parts: readonly Uint8Array[]): readonly Address[] {
  const senders: Address[] = [];
  for (const bytes of parts) {
    for (let at = 0; at < bytes.length; at += ADDRESS_LENGTH) {
      senders.push(addressFromBytes(bytes.subarray(at, at + ADDRESS_LENGTH)));
    }
    if (bytes.length < PART_LENGTH * ADDRESS_LENGTH) break;
  }
  return senders;
}

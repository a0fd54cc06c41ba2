import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { StepWork } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { maxFeePerGasOf } from "../../../base/types/transaction/fees.ts";
import type { PoolContent, PooledTransaction } from "../../../consensus/mempool/pool.ts";
import { address, rawJsonOf } from "../../transport/codec.ts";
import { LimitExceededError } from "../../transport/errors.ts";
import { defineForwardedMethod, defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { mapOf, POOLED, QUANTITY, shape, TRANSACTION } from "../json/schemas.ts";
import { transactionText } from "../json/transaction-json.ts";
import { quantityText } from "../json/write.ts";
import type { JsonSessions } from "../sessions.ts";

/** JSON text of one pooled transaction. */
type PooledText = (pooled: PooledTransaction) => string;

/** Letters of an answer: some 100,000 transactions. A full pool of small ones has four times as many, and its text would be in memory several times. */
const CONTENT_CHARS_MAX = 64 << 20;
/** A transaction is a part of an item of `StepWork`, besides its bytes. */
const TRANSACTION_WORK = 1 / 3;

/**
 * `{pending, queued}`, each by sender (EIP-55) and nonce (decimal), as it was when it was requested.
 *
 * @throws LimitExceededError
 */
async function contentText(
  { pending, queued }: PoolContent,
  text: PooledText,
  { sessions }: JsonSessions,
): Promise<string> {
  const { json } = sessions.slices;
  await json.enter();
  const writer = new ContentWriter(text, json);
  return `{"pending":${await writer.write(pending)},"queued":${await writer.write(queued)}}`;
}

class ContentWriter {
  readonly #text: PooledText;
  readonly #work = new StepWork();
  readonly #slices: SharedSlices;
  #chars = 0;

  constructor(text: PooledText, slices: SharedSlices) {
    this.#text = text;
    this.#slices = slices;
  }

  /** By sender (EIP-55), then by nonce. */
  async write(bySender: ReadonlyMap<Address, readonly PooledTransaction[]>): Promise<string> {
    const senders: string[] = [];
    for (const [sender, pooled] of bySender) {
      if (pooled.length > 0) senders.push(`"${checksumAddress(sender)}":${await this.writeOfSender(pooled)}`);
    }
    return `{${senders.join(",")}}`;
  }

  /** By nonce (decimal). */
  async writeOfSender(pooled: readonly PooledTransaction[]): Promise<string> {
    const members: string[] = [];
    for (const entry of pooled) {
      const member = this.#member(entry);
      members.push(member);
      if (this.#work.add(member.length, TRANSACTION_WORK) && this.#slices.isOver()) await this.#slices.next();
    }
    return `{${members.join(",")}}`;
  }

  #member(entry: PooledTransaction): string {
    const member = `"${entry.tx.nonce}":${this.#text(entry)}`;
    this.#chars += member.length;
    if (this.#chars > CONTENT_CHARS_MAX) {
      throw new LimitExceededError(
        "the pool has more transactions than one answer holds: ask for fewer with txpool_contentFrom or eth_getTransactionBySenderAndNonce",
      );
    }
    return member;
  }
}

/** `txpool_status`: numbers of executable (pending) and non-executable (queued) transactions. */
export const status = defineMethod({
  name: "txpool_status",
  params: {},
  result: rawJsonOf(shape("PoolStatus", { pending: QUANTITY, queued: QUANTITY })),
  handle: (_params, { chain }) =>
    andThen(
      chain.poolCounts(),
      ({ pending, queued }) => `{"pending":${quantityText(pending)},"queued":${quantityText(queued)}}`,
    ),
});

/**
 * `txpool_content`: every pooled transaction by sender (EIP-55) and nonce (decimal).
 *
 * @throws LimitExceededError for a pool of more than 64 MiB of JSON
 */
export const content = defineForwardedMethod({
  name: "txpool_content",
  params: {},
  result: rawJsonOf(shape("PoolContent", { pending: POOLED, queued: POOLED })),
  heavy: true,
  handle: (_params, ports) => andThen(ports.chain.poolContent(), (pool) => contentText(pool, pooledText, ports)),
});

/** `txpool_contentFrom`: the pooled transactions of one sender by nonce. */
export const contentFrom = defineMethod({
  name: "txpool_contentFrom",
  params: { sender: address },
  example: [SAMPLE.alice],
  result: rawJsonOf(
    shape("PoolContentOfSender", {
      pending: mapOf(TRANSACTION),
      queued: mapOf(TRANSACTION),
    }),
  ),
  handle: ({ sender }, ports) =>
    andThen(ports.chain.poolContentFrom({ address: sender }), async ({ pending, queued }) => {
      const { json } = ports.sessions.slices;
      await json.enter();
      const writer = new ContentWriter(pooledText, json);
      return `{"pending":${await writer.writeOfSender(pending)},"queued":${await writer.writeOfSender(queued)}}`;
    }),
});

function pooledText({ tx, sender }: PooledTransaction): string {
  return transactionText(tx, sender);
}

/**
 * `txpool_inspect`: as `txpool_content`, with each transaction as one line of text.
 *
 * @throws LimitExceededError as txpool_content
 */
export const inspect = defineForwardedMethod({
  name: "txpool_inspect",
  params: {},
  result: rawJsonOf(
    shape("PoolSummary", {
      pending: mapOf(mapOf({ type: "string" })),
      queued: mapOf(mapOf({ type: "string" })),
    }),
  ),
  heavy: true,
  handle: (_params, ports) => andThen(ports.chain.poolContent(), (pool) => contentText(pool, summaryText, ports)),
});

function summaryText({ tx }: PooledTransaction): string {
  const receiver = tx.to === null ? "contract creation" : checksumAddress(tx.to);
  return `"${receiver}: ${tx.value} wei + ${tx.gasLimit} gas × ${maxFeePerGasOf(tx)} wei"`;
}

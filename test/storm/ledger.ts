import type { Hash } from "../../src/base/primitives/hash.ts";
import { type BlockAnswer, type ChainModel, isSameAnswer, type ReceiptAnswer } from "./chain-model.ts";
import type { Contracts } from "./contracts.ts";
import { StormFailure } from "./failure.ts";
import type { Call, Rpc } from "./rpc.ts";
import type { Sender, Slot } from "./sender.ts";
import { stateQuestions } from "./state-questions.ts";

/** Old blocks whose hash, and transactions whose receipt, are looked at again each time. */
const SAMPLES = 8;
const toHex = (number: number): string => `0x${number.toString(16)}`;

export type LedgerOptions = {
  readonly model: ChainModel;
  readonly contracts: Contracts;
  /** Senders through the node. */
  readonly senders: readonly Sender[];
  /** Everything that is sent, through this node or another one. */
  readonly allSenders: readonly Sender[];
  readonly random: () => number;
  /** Older blocks may be removed; undefined: none is. */
  readonly retainedBlocks: number | undefined;
};

/** What clients of one node were answered, and whether the node still answers so. */
export class Ledger {
  readonly #options: LedgerOptions;
  /** Seen since the last check: hashes by block number. */
  readonly #blocks = new Map<number, Hash>();
  /** Seen since the last check, by transaction. */
  readonly #receipts = new Map<Hash, ReceiptAnswer>();
  /** Of the node, when it was last checked. */
  #checkedHead = 0;
  blocksSeen = 0;
  receiptsSeen = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  get model(): ChainModel {
    return this.#options.model;
  }

  get senders(): readonly Sender[] {
    return this.#options.senders;
  }

  /** A client was answered with this block, or notified of it. @throws StormFailure where it saw another one at its number */
  sawBlock(number: number, hash: Hash): void {
    const before = this.#blocks.get(number) ?? this.model.hashOf(number);
    if (before === undefined) this.blocksSeen++;
    else if (before !== hash) throw new StormFailure("BLOCK_CHANGED", `block ${number} was ${before}, is ${hash}`);
    this.#blocks.set(number, hash);
  }

  sawReceipt(receipt: ReceiptAnswer): void {
    this.sawBlock(Number(receipt.blockNumber), receipt.blockHash);
    if (!this.#receipts.has(receipt.transactionHash)) this.receiptsSeen++;
    this.#receipts.set(receipt.transactionHash, receipt);
  }

  /** The blocks after `number` are removed on demand: what was seen of them is void. */
  removedAfter(number: number): void {
    const { model, allSenders } = this.#options;
    for (const each of this.#blocks.keys()) if (each > number) this.#blocks.delete(each);
    this.#receipts.clear();
    const removed = new Set<Hash>();
    for (let each = number + 1; each <= model.head; each++) {
      for (const { hash } of model.transactionsOf(each)) removed.add(hash);
    }
    model.rollbackTo(number);
    this.#checkedHead = Math.min(this.#checkedHead, number);
    for (const sender of allSenders) {
      sender.beginAgain(model.nonceOf(sender.address), ({ sent }) => sent.some(({ hash }) => removed.has(hash)));
    }
  }

  /**
   * Compares the node with everything that was answered before this call. Blocks may be made meanwhile.
   * @returns the number of the newest block that was compared
   * @throws StormFailure, and what `rpc` throws
   */
  async check(rpc: Rpc): Promise<number> {
    const { senders, model } = this.#options;
    // The pool first: a transaction leaves it only for a block, and the blocks are read afterwards.
    const owed = senders.map((sender) => [...sender.slots.values()].filter(({ answered }) => answered >= 0));
    const pooled = await rpc.batch(senders.map(({ address }): Call => ["txpool_contentFrom", address]));
    const newest = Math.max(this.#checkedHead, ...this.#blocks.keys());
    const head = Number(await rpc.call("eth_blockNumber"));
    if (head < newest) throw new StormFailure("BLOCK_LOST", `the head is ${head}, and block ${newest} was seen`);
    await this.#readBlocks(rpc, head);
    this.#assertSeen(head);
    await this.#sampleBlocks(rpc, head);
    for (const [index, sender] of senders.entries()) {
      this.#assertOwed(sender, owed[index]!, { pool: pooledHashes(pooled[index]), head });
    }
    if (head === model.head) await this.#compareState(rpc, head);
    this.#checkedHead = head;
    return head;
  }

  /** Adds the blocks that the model does not have yet. */
  async #readBlocks(rpc: Rpc, head: number): Promise<void> {
    const { model } = this.#options;
    if (model.hashOf(0) === undefined) {
      model.setGenesis((await rpc.call("eth_getBlockByNumber", "0x0", false)).hash);
    }
    const numbers = Array.from({ length: Math.max(0, head - model.head) }, (_, index) => model.head + 1 + index);
    const answers = await rpc.batch(
      numbers.flatMap((number): Call[] => [
        ["eth_getBlockByNumber", toHex(number), true],
        ["eth_getBlockReceipts", toHex(number)],
      ]),
    );
    for (const [index, number] of numbers.entries()) {
      const [block, receipts] = answers.slice(2 * index) as [BlockAnswer | null, readonly ReceiptAnswer[] | null];
      if (!block || !receipts) throw new StormFailure("BLOCK_LOST", `block ${number} is not there below ${head}`);
      // Another node of the network can have shown it meanwhile.
      if (number <= model.head) continue;
      this.#assertSent(block);
      model.apply(block, receipts);
    }
  }

  #assertSent(block: BlockAnswer): void {
    for (const { from, nonce, hash } of block.transactions) {
      const sender = this.#options.allSenders.find(({ address }) => address === from);
      if (sender?.hasSent(BigInt(nonce), hash)) continue;
      throw new StormFailure("TRANSACTION_UNKNOWN", `${hash} of ${from} in block ${Number(block.number)}`);
    }
  }

  #assertSeen(head: number): void {
    const { model } = this.#options;
    for (const [number, hash] of this.#blocks) {
      if (number > head) continue;
      if (model.hashOf(number) !== hash) {
        throw new StormFailure("BLOCK_CHANGED", `block ${number} was ${hash}, is ${model.hashOf(number)}`);
      }
      this.#blocks.delete(number);
    }
    for (const [hash, receipt] of this.#receipts) {
      const found = model.receiptsOf(Number(receipt.blockNumber)).find((each) => each.transactionHash === hash);
      if (!isSameAnswer(found, receipt)) {
        throw new StormFailure("RECEIPT_CHANGED", `${JSON.stringify(receipt)} is ${JSON.stringify(found)}`);
      }
      this.#receipts.delete(hash);
    }
  }

  /** Blocks and receipts of the past by their own paths through the index: by number, by hash, by transaction. */
  async #sampleBlocks(rpc: Rpc, head: number): Promise<void> {
    const { model, random } = this.#options;
    const oldest = this.#oldest(head);
    const numbers = [
      head,
      ...Array.from({ length: SAMPLES }, () => oldest + Math.floor(random() * (head - oldest + 1))),
    ];
    const receipts = numbers.flatMap((number) => model.receiptsOf(number).slice(0, 1));
    const answers = await rpc.batch([
      ...numbers.map((number): Call => ["eth_getBlockByNumber", toHex(number), false]),
      ...numbers.map((number): Call => ["eth_getBlockByHash", model.hashOf(number), false]),
      ...receipts.map(({ transactionHash }): Call => ["eth_getTransactionReceipt", transactionHash]),
    ]);
    for (const [index, number] of numbers.entries()) {
      const hashes = [answers[index]?.hash, answers[numbers.length + index]?.hash];
      if (hashes.every((hash) => hash === model.hashOf(number))) continue;
      throw new StormFailure("BLOCK_CHANGED", `block ${number} was ${model.hashOf(number)}, is ${hashes}`);
    }
    for (const [index, receipt] of receipts.entries()) {
      const found = answers[2 * numbers.length + index];
      if (isSameAnswer(found, receipt)) continue;
      throw new StormFailure("RECEIPT_CHANGED", `${JSON.stringify(receipt)} is ${JSON.stringify(found)}`);
    }
  }

  #assertOwed(
    sender: Sender,
    owed: readonly Slot[],
    { pool, head }: { readonly pool: ReadonlyMap<bigint, Hash>; readonly head: number },
  ): void {
    for (const [nonce, hash] of pool) {
      const slot = sender.slots.get(nonce);
      const index = slot?.sent.findIndex((each) => each.hash === hash) ?? -1;
      if (index < 0) throw new StormFailure("TRANSACTION_UNKNOWN", `${hash} of ${sender.address} in the pool`);
      // It was answered as well: it is an answer of the pool.
      sender.answered(slot!, index);
    }
    for (const slot of owed) {
      const included = this.model.included(sender.address, slot.nonce);
      if (included !== undefined && included.number <= head) continue;
      const waiting = slot.sent.findIndex(({ hash }) => hash === pool.get(slot.nonce));
      if (waiting >= 0) continue;
      throw new StormFailure(
        "TRANSACTION_LOST",
        `${slot.sent[slot.answered]!.hash}, nonce ${slot.nonce} of ${sender.address}, is in no block up to ${head} and not in the pool`,
      );
    }
  }

  /** Balances, nonces, slots, codes, logs and tokens in the state after block `head`. */
  async #compareState(rpc: Rpc, head: number): Promise<void> {
    const questions = stateQuestions(this.#options, { head, oldest: this.#oldest(head) });
    const answers = await rpc.batch(questions.map(({ call }) => call));
    for (const [index, { call, expected }] of questions.entries()) {
      const answer = answers[index];
      const found = Array.isArray(answer) ? BigInt(answer.length) : answer;
      const isEqual = typeof expected === "bigint" ? BigInt(found) === expected : found === expected;
      if (!isEqual) throw new StormFailure("STATE_DIFFERS", `${call.join(" ")} is ${found}, not ${expected}`);
    }
  }

  #oldest(head: number): number {
    const { retainedBlocks } = this.#options;
    // Blocks are made while the node is asked.
    return retainedBlocks === undefined ? 0 : Math.max(0, head - Math.floor(retainedBlocks / 2));
  }
}

/** The hashes of `txpool_contentFrom` by nonce. */
function pooledHashes(content: {
  readonly pending: Readonly<Record<string, { readonly hash: Hash }>>;
  readonly queued: Readonly<Record<string, { readonly hash: Hash }>>;
}): ReadonlyMap<bigint, Hash> {
  const entries = [...Object.entries(content.pending), ...Object.entries(content.queued)];
  return new Map(entries.map(([nonce, { hash }]) => [BigInt(nonce), hash]));
}

import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Hash } from "../../src/base/primitives/hash.ts";
import type { Hex } from "../../src/base/primitives/hex.ts";
import type { ReceiptAnswer } from "./chain-model.ts";
import { StormFailure } from "./failure.ts";
import type { Ledger } from "./ledger.ts";
import { NoAnswerError, type Rpc, RpcError } from "./rpc.ts";
import type { Sender, Slot } from "./sender.ts";

/** Of so many transactions one is sent before the one whose nonce it follows, and one replaces the last one. */
const GAP_EVERY = 25;
const REPLACEMENT_EVERY = 15;
/** The receipt of one in this many transactions is queried. */
const RECEIPT_EVERY = 3;
/** Between two looks at the newest block. Milliseconds. */
const LOOK_MS = 12;
/** Transactions of one sender in one life, less those still waiting from earlier lives: a slow chain must be able to catch up. */
const TRANSACTIONS_MAX = 60;
/** A transaction that the node puts off is sent again after at most so long, so that a kill meets senders at work. Milliseconds. */
const PUT_OFF_MS_MAX = 1_000;
const TOPICS = ["newHeads", "logs"];
/** The upgrade to WebSocket and the subscriptions are answered within so long, or the node has ended. */
const SUBSCRIBE_MS_MAX = 120_000;

/** Answers to a transaction that the node has already, in the pool or in a block. */
const HAS_IT = /already known|nonce too low/;
/** Answers to a replacement that came too late, or whose first attempt is in the pool. */
const LATE_REPLACEMENT = /already known|nonce too low|replacement transaction underpriced/;

export type LoadOptions = {
  readonly rpc: Rpc;
  readonly wsUrl: string;
  readonly ledger: Ledger;
  readonly random: () => number;
  /** Longest pause of a sender. */
  readonly pauseMsMax: number;
};

/** Clients of one life of a node: they send, read and subscribe until it dies or they are stopped, and the ledger learns every answer. */
export class Load {
  readonly #options: LoadOptions;
  readonly #running: Promise<void>[] = [];
  readonly #recent: Hash[] = [];
  /** Those that have no transaction left to send. */
  readonly #sent = new Set<Sender>();
  #socket: WebSocket | undefined;
  #isStopping = false;
  #failure: unknown;
  /** When the first block was notified, by the monotonic clock. */
  firstBlockMs: number | undefined;
  answered = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Subscribes to new heads and logs, and has the first sender send a transaction that the node has not seen: a block must follow. */
  async begin(): Promise<void> {
    await this.#subscribe();
    const [sender] = this.#options.ledger.senders;
    while (!(await this.#send(sender!, sender!.nextSlot())));
  }

  start(): void {
    for (const sender of this.#options.ledger.senders) {
      this.#running.push(
        this.#run(sender).catch((error) => {
          // The connection broke: the node is dead.
          if (!(error instanceof NoAnswerError)) this.#failure ??= error;
        }),
      );
    }
  }

  /** Whether every sender has sent all that it may send in one life: then they only look at blocks. */
  get isSent(): boolean {
    return this.#sent.size === this.#options.ledger.senders.length;
  }

  /** @throws what a client saw that must not be */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
    this.#socket?.terminate();
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #run(sender: Sender): Promise<void> {
    const { rpc, ledger, random, pauseMsMax } = this.#options;
    const isOneOf = (count: number) => random() * count < 1;
    let left = TRANSACTIONS_MAX - sender.slotsFrom(ledger.model.nonceOf(sender.address));
    while (!this.#isStopping) {
      if (left-- > 0) {
        const ahead = isOneOf(GAP_EVERY) ? sender.slotAfterNext() : undefined;
        if (ahead !== undefined) await this.#send(sender, ahead);
        if (isOneOf(REPLACEMENT_EVERY)) await this.#replace(sender);
        await this.#send(sender, sender.nextSlot());
      } else {
        this.#sent.add(sender);
        this.#sawBlock(await rpc.call("eth_getBlockByNumber", "latest", false));
        await sleep(LOOK_MS);
      }
      if (isOneOf(RECEIPT_EVERY)) await this.#readReceipt();
      if (isOneOf(4)) await sleep(random() * pauseMsMax);
    }
  }

  /** @returns false where the node had it already, or put it off until this load was stopped */
  async #send(sender: Sender, slot: Slot): Promise<boolean> {
    const index = slot.sent.length - 1;
    const { hash, raw } = slot.sent[index]!;
    let isNew = true;
    try {
      const answer = await this.#sendRaw(raw);
      if (answer === undefined) return false;
      if (answer !== hash) throw new StormFailure("CALL_FAILED", `${hash} was answered with ${answer}`);
      this.#recent.push(hash);
      this.answered++;
    } catch (error) {
      if (!isAnswer(error, HAS_IT)) throw error;
      isNew = false;
    }
    sender.answered(slot, index);
    return isNew;
  }

  async #replace(sender: Sender): Promise<void> {
    const slot = sender.replacement();
    if (slot === undefined) return;
    const index = slot.sent.length - 1;
    try {
      if ((await this.#sendRaw(slot.sent[index]!.raw)) === undefined) return;
      sender.answered(slot, index);
      this.answered++;
    } catch (error) {
      if (!isAnswer(error, LATE_REPLACEMENT)) throw error;
    }
  }

  /** Sends it again while the node defers it; undefined if this load was stopped before. */
  async #sendRaw(raw: Hex): Promise<Hash | undefined> {
    while (!this.#isStopping) {
      try {
        return (await this.#options.rpc.call("eth_sendRawTransaction", raw)) as Hash;
      } catch (error) {
        if (!(error instanceof RpcError) || error.retryAfterMs === undefined) throw error;
        await sleep(Math.min(error.retryAfterMs, PUT_OFF_MS_MAX));
      }
    }
    return undefined;
  }

  async #readReceipt(): Promise<void> {
    const { rpc, ledger, random } = this.#options;
    const hash = this.#recent[Math.floor(random() * this.#recent.length)];
    if (hash === undefined) return;
    const receipt = (await rpc.call("eth_getTransactionReceipt", hash)) as ReceiptAnswer | null;
    if (receipt) ledger.sawReceipt(receipt);
  }

  #sawBlock({ number, hash }: { readonly number: Hex; readonly hash: Hash }): void {
    this.#options.ledger.sawBlock(Number(number), hash);
  }

  async #subscribe(): Promise<void> {
    const socket = new WebSocket(this.#options.wsUrl, { handshakeTimeout: SUBSCRIBE_MS_MAX });
    this.#socket = socket;
    // A block that is made before the answers is not notified.
    await new Promise<void>((resolve, reject) => {
      const timeout = setTimeout(() => reject(new NoAnswerError("no subscription")), SUBSCRIBE_MS_MAX).unref();
      let left = TOPICS.length;
      socket.on("open", () => {
        for (const [id, topic] of TOPICS.entries()) {
          const params = topic === "logs" ? [topic, {}] : [topic];
          socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params }));
        }
      });
      socket.on("message", (text) => {
        const message = JSON.parse(text.toString()) as Notification | SubscribeAnswer;
        if ("params" in message) this.#notified(message);
        else if (message.error) {
          reject(new StormFailure("CALL_FAILED", `eth_subscribe: ${message.error.message}`));
        } else if (--left === 0) {
          clearTimeout(timeout);
          resolve();
        }
      });
      socket.on("error", (error) => reject(new NoAnswerError(error.message, { cause: error })));
      socket.on("close", () => reject(new NoAnswerError("the connection ended")));
    });
  }

  #notified({ params }: Notification): void {
    try {
      const { number, hash, blockNumber, blockHash, removed } = params.result;
      // removed on demand: not expected later
      if (removed) return;
      if (number !== undefined) this.firstBlockMs ??= performance.now();
      this.#sawBlock({ number: (number ?? blockNumber)!, hash: (hash ?? blockHash)! });
    } catch (failure) {
      this.#failure ??= failure;
    }
  }
}

/** Of `newHeads` or of `logs`. */
type Notification = {
  readonly params: {
    readonly result: {
      readonly number?: Hex;
      readonly hash?: Hash;
      readonly blockNumber?: Hex;
      readonly blockHash?: Hash;
      readonly removed?: boolean;
    };
  };
};

type SubscribeAnswer = { readonly error?: { readonly message: string } };

function isAnswer(error: unknown, texts: RegExp): boolean {
  return error instanceof RpcError && texts.test(error.message);
}

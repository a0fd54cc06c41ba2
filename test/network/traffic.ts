import { setTimeout } from "node:timers/promises";
import { type Hex, keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { CHAIN_ID, eventually, type NetworkNode } from "./network.ts";

/** Between two transactions through one node. */
const PAUSE_MS = 200;

/** Private key of the account that sends through node `index`. */
const keyOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(64, "1")}`;

/** The accounts that have to be funded for traffic through so many nodes. */
export function trafficAccounts(nodes: number): readonly string[] {
  return Array.from({ length: nodes }, (_, index) => privateKeyToAccount(keyOf(index)).address);
}

/** Transfers through every node at once, each from its own account, whose nonces show a lost one. */
export class Traffic {
  readonly #senders: readonly Sender[];

  constructor(nodes: readonly NetworkNode[]) {
    this.#senders = nodes.map((node, index) => new Sender(node, keyOf(index)));
  }

  /** Transactions whose hash a node answered. */
  get answered(): readonly Hex[] {
    return this.#senders.flatMap(({ answered }) => answered);
  }

  start(): void {
    for (const sender of this.#senders) sender.start();
  }

  /** Sends nothing through node `index`, and waits until what it was given is with the others too. */
  async pause(index: number, others: readonly NetworkNode[]): Promise<void> {
    const sender = this.#senders[index]!;
    await sender.stop();
    await eventually("the transactions of the node are elsewhere", async () => {
      const nonces = await Promise.all(
        others.map(({ client }) => client.getTransactionCount({ address: sender.address, blockTag: "pending" })),
      );
      return nonces.every((nonce) => nonce >= sender.nonce);
    });
  }

  resume(index: number): void {
    this.#senders[index]!.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#senders.map((sender) => sender.stop()));
  }
}

class Sender {
  readonly #node: NetworkNode;
  readonly #account;
  readonly answered: Hex[] = [];
  #nonce = 0;
  #running: Promise<void> | undefined;
  #isStopping = false;

  constructor(node: NetworkNode, key: Hex) {
    this.#node = node;
    this.#account = privateKeyToAccount(key);
  }

  get address(): Hex {
    return this.#account.address;
  }

  /** Of the next transaction. */
  get nonce(): number {
    return this.#nonce;
  }

  start(): void {
    this.#isStopping = false;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      await this.#send();
      await setTimeout(PAUSE_MS);
    }
  }

  /** The next transaction; the same one again next time, unless the node has it. */
  async #send(): Promise<void> {
    const serializedTransaction = await this.#account.signTransaction({
      type: "eip1559",
      chainId: CHAIN_ID,
      nonce: this.#nonce,
      gas: 21_000n,
      to: this.#account.address,
      value: 1n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    try {
      this.answered.push(await this.#node.client.sendRawTransaction({ serializedTransaction }));
    } catch (error) {
      // A node that was killed may have taken it without an answer: now it says that it has it, or that it is in a block.
      if (!/already known|nonce too low/.test(String(error))) return;
      this.answered.push(keccak256(serializedTransaction));
    }
    this.#nonce++;
  }
}

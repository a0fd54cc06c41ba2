import type { Simulation } from "../kernel/simulation.ts";
import { type BlockJson, type Fork, Model, type ReceiptJson } from "./model.ts";

/** A block as JSON-RPC shows it, with its receipts. */
export type SeenBlock = {
  readonly number: number;
  readonly hash: string;
  /** JSON text of block and receipts. */
  readonly block: string;
  readonly receipts: string;
};

/** A transaction whose hash a node has answered. */
export type Acknowledged = {
  readonly hash: string;
  readonly sender: string;
  readonly nonce: number;
  readonly node: number;
  readonly atMs: number;
};

/** What nodes have shown and promised to anybody outside: it must stay so. */
export class Ledger {
  readonly #simulation: Simulation;
  readonly blocks = new Map<number, SeenBlock>();
  readonly acknowledged = new Map<string, Acknowledged>();
  /** Block numbers of transactions that were seen in blocks. */
  readonly included = new Map<string, number>();
  /** Hashes of transactions that nodes must reject. */
  readonly #forbidden = new Set<string>();
  /** Highest nonce in a block, by sender. */
  readonly nonces = new Map<string, number>();
  /** Has executed all blocks up to the first one that no node has shown yet. */
  readonly model: Model;
  head = 0;
  /** How often blocks were removed: an answer from before belongs to a chain that is gone. */
  rewinds = 0;
  /** The operator is removing the blocks after this one: where the node ends meanwhile, they may be gone. */
  removingAfter: number | undefined;
  /** The newest block that was ever removed. */
  highestRemoved = 0;
  readonly #onRewind: ((head: number) => void)[] = [];

  constructor(simulation: Simulation, fork: Fork) {
    this.#simulation = simulation;
    this.model = new Model(fork);
  }

  /** A node showed a block. */
  sees(source: string, seen: SeenBlock): void {
    const known = this.blocks.get(seen.number);
    if (known === undefined) {
      this.blocks.set(seen.number, seen);
      this.head = Math.max(this.head, seen.number);
      for (const { hash, from, nonce } of (JSON.parse(seen.block) as BlockJson).transactions) {
        this.included.set(hash, seen.number);
        if (this.#forbidden.has(hash)) {
          this.#simulation.violate("validity", `${source} shows block ${seen.number} with ${hash}, which is not valid`);
        }
        this.nonces.set(from, Math.max(this.nonces.get(from) ?? -1, Number(nonce)));
      }
      this.#execute(source);
      return;
    }
    if (known.hash !== seen.hash) {
      this.#simulation.violate(
        "agreement",
        `${source} shows block ${seen.number} as ${seen.hash}, ${known.hash} was shown before`,
      );
    } else if (known.block !== seen.block || known.receipts !== seen.receipts) {
      const what = known.block === seen.block ? "receipts" : "content";
      this.#simulation.violate(
        "agreement",
        `${source} shows other ${what} of block ${seen.number} than were shown before`,
      );
    }
  }

  acknowledges(transaction: Acknowledged): void {
    this.acknowledged.set(transaction.hash, transaction);
  }

  /** Calls `listener` after blocks were removed, with the number of the last one that is left. */
  onRewind(listener: (head: number) => void): void {
    this.#onRewind.push(listener);
  }

  /** The operator of the only node has removed all blocks after `number`. */
  rewind(number: number): void {
    this.rewinds++;
    for (const each of [...this.blocks.keys()]) if (each > number) this.blocks.delete(each);
    for (const [hash, each] of this.included) if (each > number) this.included.delete(hash);
    this.head = Math.min(this.head, number);
    const last = this.blocks.get(number);
    this.model.rewind(number, last && (JSON.parse(last.block) as BlockJson));
    this.nonces.clear();
    for (const [sender, nonce] of this.model.at(this.model.head)!.nonces) this.nonces.set(sender, nonce - 1);
    for (const listener of this.#onRewind) listener(number);
  }

  /** No block may have this transaction. */
  forbids(hash: string): void {
    this.#forbidden.add(hash);
  }

  #execute(source: string): void {
    for (let next = this.blocks.get(this.model.head + 1); next; next = this.blocks.get(this.model.head + 1)) {
      try {
        this.model.execute(JSON.parse(next.block) as BlockJson, JSON.parse(next.receipts) as ReceiptJson[]);
      } catch (error) {
        this.#simulation.violate(
          "model",
          `block ${next.number}, shown by ${source}: ${(error as Error).message}`,
          error,
        );
        return;
      }
    }
  }
}

import type { Cluster, ClusterNode } from "../scenario/cluster.ts";
import type { Ledger, SeenBlock } from "./ledger.ts";

/** Milliseconds between two looks at a node. */
const LOOK_MS = 700;
/** Code of the error for history that a node has no longer. */
const PRUNED = 4444;
/** Blocks of a node that are read at one look. */
const BLOCKS_AT_ONCE = 20;

/**
 * Somebody who reads every block of one node as it comes, and old ones again after each of its starts: what was shown must be shown again, by it and by all
 * others.
 */
export class Observer {
  readonly #cluster: Cluster;
  readonly #node: ClusterNode;
  readonly #ledger: Ledger;
  /** The last block read. */
  #last = 0;
  #isReading = false;

  constructor(cluster: Cluster, node: ClusterNode, ledger: Ledger) {
    this.#cluster = cluster;
    this.#node = node;
    this.#ledger = ledger;
    ledger.onRewind((head) => {
      this.#last = Math.min(this.#last, head);
    });
    this.#look();
  }

  /** Highest block that this node has shown since its last start. */
  get shown(): number {
    return this.#last;
  }

  #look(): void {
    this.#cluster.simulation.after(LOOK_MS, undefined, () => {
      if (!this.#isReading) this.#read();
      this.#look();
    });
  }

  #read(): void {
    this.#isReading = true;
    this.#ask("eth_blockNumber", [], (result) => {
      const head = Number(result);
      const durable = Math.min(this.#last, this.#ledger.removingAfter ?? Number.POSITIVE_INFINITY);
      if (this.#cluster.plan.engine === "solo" && head < durable) {
        this.#cluster.simulation.violate(
          "durability",
          `node-${this.#node.index} ends at block ${head}, it had shown ${this.#last}`,
        );
      }
      this.#last = Math.min(this.#last, head);
      this.#readTo(Math.min(head, this.#last + BLOCKS_AT_ONCE));
    });
  }

  #readTo(head: number): void {
    if (this.#last >= head) {
      this.#isReading = false;
      return;
    }
    const number = this.#last + 1;
    const at = `0x${number.toString(16)}`;
    this.#ask("eth_getBlockByNumber", [at, true], (block) => {
      if (block === undefined || block === null) {
        this.#skip(number, head);
        return;
      }
      this.#ask("eth_getBlockReceipts", [at], (receipts) => {
        // A rollback came between.
        if (receipts === undefined || receipts === null) {
          this.#skip(number, head);
          return;
        }
        this.#ledger.sees(`node-${this.#node.index}`, seenBlock(block, receipts));
        this.#last = number;
        this.#readTo(head);
      });
    });
  }

  /** Retention has removed it, or the node has begun with a later one. */
  #skip(number: number, head: number): void {
    this.#last = number;
    this.#readTo(head);
  }

  /** Whatever fails ends this look; the next one goes on where it was. The result is undefined for a block that was removed. */
  #ask(method: string, params: readonly unknown[], onResult: (result: unknown) => void): void {
    const { rewinds } = this.#ledger;
    this.#cluster.call(this.#node, { method, params }, (answer) => {
      if (this.#ledger.rewinds !== rewinds) this.#isReading = false;
      else if (answer.kind === "result") onResult(answer.result);
      else if (answer.kind === "error" && answer.code === PRUNED) onResult(undefined);
      else this.#isReading = false;
    });
  }
}

function seenBlock(block: unknown, receipts: unknown): SeenBlock {
  const { number, hash } = block as { readonly number: string; readonly hash: string };
  return { number: Number(number), hash, block: JSON.stringify(block), receipts: JSON.stringify(receipts) };
}

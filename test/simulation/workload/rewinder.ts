import type { Ledger } from "../checks/ledger.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "../scenario/cluster.ts";

/** Blocks that are removed at once, at most. */
const BLOCKS_MAX = 4;
const INTERNAL = -32603;

/** An operator of a node that makes its blocks alone, who removes the newest of them now and then: what was in them is gone. */
export class Rewinder {
  readonly #cluster: Cluster;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #node: ClusterNode;
  readonly #pauseMs: number;
  readonly #onBegin: (() => void)[] = [];
  isActive = true;

  /** @param pauseMs between two removals, on average */
  constructor(cluster: Cluster, { pauseMs, ledger }: { readonly pauseMs: number; readonly ledger: Ledger }) {
    this.#cluster = cluster;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream("rewinder");
    this.#node = cluster.nodes[0]!;
    this.#pauseMs = pauseMs;
    cluster.onStarted((node) => this.#follow(node));
    this.#later();
  }

  /** Calls `listener` before blocks are removed. */
  onBegin(listener: () => void): void {
    this.#onBegin.push(listener);
  }

  /** Others hear of a removal in the event in which it happens, or, where the node ended in it, when it is back. */
  #follow({ serving }: ClusterNode): void {
    if (serving === undefined) return;
    const { chain } = serving.core;
    const { removingAfter } = this.#ledger;
    this.#ledger.removingAfter = undefined;
    if (removingAfter !== undefined) this.#removed(chain.head().block.header.number);
    chain.onRollback((removed) => {
      const [first, last] = [removed.at(0), removed.at(-1)];
      if (first === undefined || last === undefined) return;
      this.#ledger.highestRemoved = Math.max(this.#ledger.highestRemoved, last.block.header.number);
      this.#removed(first.block.header.number - 1);
    });
  }

  #removed(last: number): void {
    this.#cluster.simulation.log("rewinder", `blocks after ${last} are gone`);
    if (last >= this.#ledger.head) return;
    this.#node.lostAt = this.#cluster.simulation.now;
    this.#ledger.rewind(last);
  }

  #later(): void {
    this.#cluster.simulation.after(this.#random.between(0, 2 * this.#pauseMs), undefined, () => {
      if (!this.isActive) return;
      this.#rewind();
      this.#later();
    });
  }

  #rewind(): void {
    const { simulation } = this.#cluster;
    const number = this.#ledger.model.head - this.#random.integer(1, BLOCKS_MAX);
    // The result on a failing disk is unknown before the next start.
    if (number < 1 || this.#ledger.removingAfter !== undefined || !this.#node.machine.disk.isSound) return;
    for (const listener of this.#onBegin) listener();
    simulation.log("rewinder", `to block ${number}`);
    this.#ledger.removingAfter = number;
    this.#cluster.call(this.#node, { method: "debug_setHead", params: [`0x${number.toString(16)}`] }, (answer) => {
      if (answer.kind === "error") simulation.log("rewinder", `failed: ${answer.message}`);
      // After an error of the node's own the next start shows what is left.
      const isOver = answer.kind === "result" || (answer.kind === "error" && answer.code !== INTERNAL);
      if (isOver) this.#ledger.removingAfter = undefined;
    });
  }
}

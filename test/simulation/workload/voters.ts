import type { Random } from "../kernel/random.ts";
import type { Cluster } from "../scenario/cluster.ts";

/** Milliseconds between two votes at most. */
const PAUSE_MS = 60_000;

/** Gas that the validators agree on for a while, below that of their settings. */
const GAS_LIMIT = 45_000_000;

/** Operators who vote a follower in as a validator, and out again, and agree on a gas limit and end the agreement. */
export class Voters {
  readonly #cluster: Cluster;
  readonly #random: Random;
  isActive = true;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#random = cluster.simulation.random.stream("voters");
    this.#later(true);
  }

  #later(authorizes: boolean): void {
    const { simulation } = this.#cluster;
    simulation.after(this.#random.between(5_000, PAUSE_MS), undefined, () => {
      if (!this.isActive) return;
      this.#vote(authorizes);
      this.#later(!authorizes);
    });
  }

  #vote(authorizes: boolean): void {
    const { plan, nodes, identities, simulation } = this.#cluster;
    const index = plan.nodes.findIndex(({ isValidator }) => !isValidator);
    // A validator that is not there yet fails as one that lies does, and with both it is more than a third.
    if (authorizes && nodes[index]!.process === undefined && plan.faults.some(({ kind }) => kind.startsWith("hostile")))
      return;
    const { address, publicKey } = identities[index]!;
    simulation.log("voters", `${authorizes ? "in" : "out"}: node-${index}`);
    for (const node of nodes) {
      if (!plan.nodes[node.index]!.isValidator) continue;
      const params = authorizes ? [address, true, publicKey] : [address, false];
      this.#cluster.call(node, { method: "clique_propose", params }, () => {});
      const gasLimit = ["gasLimit", authorizes ? GAS_LIMIT : 0];
      this.#cluster.call(node, { method: "clique_proposeParameter", params: gasLimit }, () => {});
    }
  }
}

import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "../scenario/cluster.ts";

/** Milliseconds between two votes at most. */
const PAUSE_MS = 60_000;

/** A validator that votes alone has the turn to propose several times before the others vote. */
const ALONE_TURNS = 4;

/** Gas that the validators agree on for a while, below that of their settings. */
const GAS_LIMIT = 45_000_000;

/** Operators who vote a follower in as a validator, and out again, and agree on a gas limit and end the agreement. Sometimes one votes long before the others. */
export class Voters {
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #alone: Random;
  isActive = true;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#random = cluster.simulation.random.stream("voters");
    this.#alone = cluster.simulation.random.stream("votes of one");
    this.#later(true);
  }

  #later(authorizes: boolean): void {
    const { simulation } = this.#cluster;
    simulation.after(this.#random.between(5_000, PAUSE_MS), undefined, () => {
      if (!this.isActive) return;
      if (this.#alone.chance(0.5)) this.#voteAfterOne(authorizes);
      else this.#voteAndWait(authorizes);
    });
  }

  #voteAfterOne(authorizes: boolean): void {
    const { plan, nodes, simulation } = this.#cluster;
    const validators = nodes.filter(({ index }) => plan.nodes[index]!.isValidator);
    // One that casts its vote again and again would like to decide alone.
    const one = validators.find(({ hostile }) => hostile.has("ballots")) ?? this.#alone.pick(validators);
    this.#vote(authorizes, [one]);
    simulation.after(ALONE_TURNS * validators.length * plan.blockTimeMs, undefined, () => {
      if (this.isActive) this.#voteAndWait(authorizes);
    });
  }

  #voteAndWait(authorizes: boolean): void {
    this.#vote(authorizes, this.#cluster.nodes);
    this.#later(!authorizes);
  }

  #vote(authorizes: boolean, voters: readonly ClusterNode[]): void {
    const { plan, nodes, identities, simulation } = this.#cluster;
    const index = plan.nodes.findIndex(({ isValidator }) => !isValidator);
    // A validator that is not there yet fails as one that lies does, and with both it is more than a third.
    if (authorizes && nodes[index]!.process === undefined && plan.faults.some(({ kind }) => kind.startsWith("hostile")))
      return;
    const { address, publicKey } = identities[index]!;
    const by = voters.length === 1 ? ` by node-${voters[0]!.index} alone` : "";
    simulation.log("voters", `${authorizes ? "in" : "out"}: node-${index}${by}`);
    for (const node of voters) {
      if (!plan.nodes[node.index]!.isValidator) continue;
      const params = authorizes ? [address, true, publicKey] : [address, false];
      this.#cluster.call(node, { method: "clique_propose", params }, () => {});
      const gasLimit = ["gasLimit", authorizes ? GAS_LIMIT : 0];
      this.#cluster.call(node, { method: "clique_proposeParameter", params: gasLimit }, () => {});
    }
  }
}

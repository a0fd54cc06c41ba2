import type { Random } from "../kernel/random.ts";
import type { Cluster } from "../scenario/cluster.ts";

/** Milliseconds between two questions. */
const ASK_MS = 2_000;
/** CometBFT counts a set from the second block after the one that decides about it. */
const ACTIVE_AFTER_BLOCKS = 2;

type SnapshotJson = {
  readonly number: number;
  /** By address. */
  readonly signers: Readonly<Record<string, unknown>>;
  readonly votes: readonly { readonly signer: string; readonly address: string }[];
};

/** Asks random nodes for their validators: they are those of CometBFT, and each has one vote about a candidate (EIP-225). */
export class ValidatorQuestioner {
  readonly #cluster: Cluster;
  readonly #random: Random;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#random = cluster.simulation.random.stream("questions about validators");
    this.#ask();
  }

  #ask(): void {
    const { simulation, nodes } = this.#cluster;
    simulation.after(ASK_MS, undefined, () => {
      this.#ask();
      const node = this.#random.pick(nodes);
      this.#cluster.call(node, { method: "clique_getSnapshot", params: ["latest"] }, (answer) => {
        if (answer.kind === "result") this.#check(`node-${node.index}`, answer.result as SnapshotJson);
      });
    });
  }

  #check(node: string, { number, signers, votes }: SnapshotJson): void {
    const { simulation, contract } = this.#cluster;
    const voted = new Set<string>();
    for (const { signer, address } of votes) {
      const about = `${signer} about ${address}`;
      if (voted.has(about)) simulation.violate("answers", `${node} counts two votes of ${about} after block ${number}`);
      voted.add(about);
    }
    const engine = contract.validatorsAt(number + ACTIVE_AFTER_BLOCKS);
    if (engine === undefined || number === 0) return;
    const own = Object.keys(signers).map((address) => address.slice(2));
    if (own.toSorted().join() === engine.toSorted().join()) return;
    const text = `${node} says that ${own.length} are validators after block ${number}, and CometBFT has ${engine.length} others`;
    simulation.violate("answers", text);
  }
}

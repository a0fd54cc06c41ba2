import { bytesToHex } from "../../../src/base/primitives/hex.ts";
import type { Ledger } from "../checks/ledger.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster } from "../scenario/cluster.ts";
import { blobsBeginMs, drawCommitments, signBlobs } from "./blob-transactions.ts";
import { USERS } from "./user-keys.ts";

/** It has funds, and never pays: none of its transactions may come into a block. */
const ATTACKER = USERS.at(-2)!;

/** Sends transactions with one wrong proof to random nodes, as a user and as a peer. */
export class BlobAttacker {
  readonly #cluster: Cluster;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #pauseMs: number;
  #sent = 0;
  isActive = true;

  /** @param pauseMs between two transactions, on average */
  constructor(cluster: Cluster, { pauseMs, ledger }: { readonly pauseMs: number; readonly ledger: Ledger }) {
    this.#cluster = cluster;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream("blob attacker");
    this.#pauseMs = pauseMs;
    cluster.simulation.after(blobsBeginMs(cluster.plan), undefined, () => this.#later());
  }

  /** Nothing that it sends has to be in a block. */
  get waiting(): number {
    return 0;
  }

  #later(): void {
    this.#cluster.simulation.after(this.#random.between(0, 2 * this.#pauseMs), undefined, () => {
      if (!this.isActive) return;
      this.#attack();
      this.#later();
    });
  }

  #attack(): void {
    const { nodes, plan, simulation } = this.#cluster;
    const number = this.#sent++;
    const commitments = drawCommitments(this.#random, `attacker ${number}`);
    const gwei = this.#random.integer(2, 50);
    const { hash, raw } = signBlobs({ key: ATTACKER.key, nonce: 0, commitments, gwei }).wrong;
    const node = this.#random.pick(nodes);
    this.#ledger.forbids(hash);
    if (plan.engine === "cometbft" && this.#random.chance(0.7)) {
      node.invented.push(raw);
      return;
    }
    this.#cluster.call(node, { method: "eth_sendRawTransaction", params: [bytesToHex(raw)] }, (answer) => {
      if (answer.kind !== "result") return;
      simulation.violate("answers", `node-${node.index} takes transaction ${hash}, a proof of which is wrong`);
    });
  }
}

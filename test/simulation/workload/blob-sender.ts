import { bytesToHex } from "../../../src/base/primitives/hex.ts";
import type { Ledger } from "../checks/ledger.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "../scenario/cluster.ts";
import { blobsBeginMs, drawCommitments, type SignedBlobs, signBlobs } from "./blob-transactions.ts";
import { USERS } from "./user-keys.ts";

/** A block takes up to nine blobs, and the pool up to 16 transactions of an account. */
const PENDING_MAX = 8;
const BURST = 5;
/** After so long in no block, all that waits is sent to another node. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 3_000;
/** Another node is tried so long after one has failed. */
const RETRY_MS = 1_000;
/** No user of these sends anything else: an account's transactions are either with blobs or without. */
const SENDER = USERS.at(-1)!;

/** What nodes answer that have a transaction, in their pools or in a block. */
const IS_THERE = /already known|nonce too low/;

type Pending = {
  readonly nonce: number;
  readonly signed: SignedBlobs;
  sentAt: number;
  /** The node that transactions go to has it. */
  isThere: boolean;
  /** A node has promised to include it, and has lost nothing since. */
  readonly promises: { readonly node: ClusterNode; readonly atMs: number }[];
};

/**
 * Sends blob transactions of one account as a rollup does: in the order of their nonces, all to one node until that fails. A node drops blob transactions
 * after a gap of nonces within a minute, though it has acknowledged them: this sender leaves no gaps.
 */
export class BlobSender {
  readonly #cluster: Cluster;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #pauseMs: number;
  #node: ClusterNode;
  #nonce = 0;
  #pending: Pending[] = [];
  #isSending = false;
  /** False: it sends nothing new, and only that again which no node has promised to have. */
  isActive = true;

  /** @param pauseMs between two transactions, on average */
  constructor(cluster: Cluster, { pauseMs, ledger }: { readonly pauseMs: number; readonly ledger: Ledger }) {
    this.#cluster = cluster;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream("blob sender");
    this.#pauseMs = pauseMs;
    this.#node = this.#random.pick(cluster.nodes);
    cluster.simulation.after(blobsBeginMs(cluster.plan), undefined, () => this.#later());
    this.#watch();
    ledger.onRewind(() => this.#beginAnew());
  }

  /** Transactions that were sent and are in no block that was shown. */
  get waiting(): number {
    this.#forgetIncluded();
    return this.#pending.length;
  }

  /** Blocks were removed: what they had is sent no more, and the pool has dropped the rest. */
  #beginAnew(): void {
    this.#pending = [];
    this.#nonce = (this.#ledger.nonces.get(SENDER.address) ?? -1) + 1;
  }

  #later(): void {
    this.#cluster.simulation.after(this.#random.between(0, 2 * this.#pauseMs), undefined, () => {
      if (!this.isActive) return;
      // Now and then more than a block takes.
      const count = this.#random.chance(0.1) ? BURST : 1;
      for (let sent = 0; sent < count && this.#pending.length < PENDING_MAX; sent++) this.#sendNext();
      this.#later();
    });
  }

  #watch(): void {
    const { simulation } = this.#cluster;
    simulation.after(LOOK_MS, undefined, () => {
      this.#forgetIncluded();
      const [oldest] = this.#pending;
      if (oldest && simulation.now - oldest.sentAt > PATIENCE_MS) this.#turnAway();
      this.#submit();
      this.#watch();
    });
  }

  #sendNext(): void {
    const nonce = this.#nonce++;
    const commitments = drawCommitments(this.#random, `sender ${nonce}`);
    const gwei = this.#random.integer(2, 50);
    const { right, wrong } = signBlobs({ key: SENDER.key, nonce, commitments, gwei });
    // A copy with wrong proofs comes first, and must not shut out the right one.
    if (this.#random.chance(0.2)) this.#random.pick(this.#cluster.nodes).invented.push(wrong.raw);
    const sentAt = this.#cluster.simulation.now;
    this.#pending.push({ nonce, signed: right, sentAt, isThere: false, promises: [] });
    this.#submit();
  }

  /** Another node gets everything that waits. */
  #turnAway(): void {
    this.#node = this.#random.pick(this.#cluster.nodes);
    for (const each of this.#pending) {
      each.isThere = false;
      each.sentAt = this.#cluster.simulation.now;
    }
  }

  /** One at a time, so that a node has all with lower nonces when it gets the next. */
  #submit(): void {
    const next = this.#isSending ? undefined : this.#next();
    if (next === undefined) return;
    const { simulation } = this.#cluster;
    const node = this.#node;
    const { nonce, signed } = next;
    const { rewinds } = this.#ledger;
    this.#isSending = true;
    this.#cluster.call(node, { method: "eth_sendRawTransaction", params: [bytesToHex(signed.raw)] }, (answer) => {
      this.#isSending = false;
      if (this.#ledger.rewinds !== rewinds) {
        this.#submit();
        return;
      }
      if (answer.kind === "result") this.#acknowledged(next, node, answer.result);
      const isThere = answer.kind === "result" || (answer.kind === "error" && IS_THERE.test(answer.message));
      if (isThere) {
        if (node === this.#node) next.isThere = true;
        this.#submit();
        return;
      }
      const reason = answer.kind === "error" ? answer.message : "no answer";
      simulation.log("blob-sender", `nonce ${nonce} not taken by node-${node.index}: ${reason}`);
      this.#turnAway();
      simulation.after(RETRY_MS, undefined, () => this.#submit());
    });
  }

  #next(): Pending | undefined {
    this.#forgetIncluded();
    if (!this.isActive && this.#pending.every(isPromised)) return undefined;
    return this.#pending.find(({ isThere }) => !isThere);
  }

  #acknowledged({ nonce, signed, promises }: Pending, node: ClusterNode, answer: unknown): void {
    const { simulation } = this.#cluster;
    const { hash } = signed;
    if (answer !== hash) simulation.violate("answers", `another hash for ${hash}: ${String(answer)}`);
    simulation.log("blob-sender", `nonce ${nonce} acknowledged by node-${node.index}: ${hash}`);
    promises.push({ node, atMs: simulation.now });
    this.#ledger.acknowledges({ hash, sender: SENDER.address, nonce, node: node.index, atMs: simulation.now });
  }

  #forgetIncluded(): void {
    const last = this.#ledger.nonces.get(SENDER.address) ?? -1;
    this.#pending = this.#pending.filter(({ nonce }) => nonce > last);
  }
}

function isPromised({ promises }: Pending): boolean {
  return promises.some(({ node, atMs }) => node.lostAt < atMs);
}

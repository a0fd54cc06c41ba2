import type { Address } from "../../../src/base/primitives/address.ts";
import { bytesToHex } from "../../../src/base/primitives/hex.ts";
import type { TransactionFields } from "../../../src/base/types/transaction/codec.ts";
import { encodePooledTransaction } from "../../../src/base/types/transaction/encode.ts";
import { signTransaction } from "../../../src/base/types/transaction/sign.ts";
import type { Ledger } from "../checks/ledger.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "../scenario/cluster.ts";
import { CHAIN_ID, USERS } from "./user-keys.ts";

const GWEI = 10n ** 9n;
/** Transactions after a gap, at most. */
const LATER_MAX = 3;
/** How long the first nonce is held back: some blocks. */
const HOLD_MS = [1_000, 10_000] as const;
/** In half of the cases it is sent only once the node with the others does not hear of it, for which this is the patience. */
const HOLD_MS_MAX = 20_000;
const HOLD_STEP_MS = 500;
/** A replacement follows so soon that no block comes between, mostly. */
const REPLACEMENT_MS_MAX = 200;
/** After so long without a promise a transaction is sent to another node. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 3_000;
/** No user of these sends anything else. */
const SENDER = USERS.at(-3)!;

/** Transactions after a gap, at the node that got them. */
type Burst = {
  readonly node: ClusterNode;
  /** The nonce that is held back. */
  readonly held: number;
  /** When the node has promised each of the nonces after it. */
  readonly promisedAt: Map<number, number>;
};

type Pending = {
  readonly nonce: number;
  /** The one that pays most. */
  raw: string;
  hash: string;
  sentAt: number;
  /** A node has promised to include it, and has lost nothing since. */
  readonly promises: { readonly node: ClusterNode; readonly atMs: number }[];
};

/**
 * Sends transactions of one account out of order: those after a gap to one node, and the one that fills it to another, later. Some are replaced at once. What
 * a node has acknowledged is never sent again, so that it has to keep what it has promised alone.
 */
export class GapSender {
  readonly #cluster: Cluster;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #pauseMs: number;
  readonly #pending = new Map<number, Pending>();
  #nonce = 0;
  /** The nonce that is held back. */
  #held: number | undefined;
  /** The newest. */
  #burst: Burst | undefined;
  /** False: it fills the gap at once, and sends only that again which no node has promised to have. */
  isActive = true;

  /** @param pauseMs between two gaps, on average */
  constructor(cluster: Cluster, { pauseMs, ledger }: { readonly pauseMs: number; readonly ledger: Ledger }) {
    this.#cluster = cluster;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream("gap sender");
    this.#pauseMs = pauseMs;
    this.#later();
    this.#watch();
    ledger.onRewind(() => this.#beginAnew());
  }

  /** Transactions that were sent and are in no block that was shown. */
  get waiting(): number {
    this.#forgetIncluded();
    return this.#pending.size + (this.#held === undefined ? 0 : 1);
  }

  /** Blocks were removed: what they had is sent no more. */
  #beginAnew(): void {
    this.#pending.clear();
    this.#held = undefined;
    this.#burst = undefined;
    this.#nonce = (this.#ledger.nonces.get(SENDER.address) ?? -1) + 1;
  }

  #later(): void {
    this.#cluster.simulation.after(this.#random.between(0, 2 * this.#pauseMs), undefined, () => {
      if (!this.isActive) return;
      if (this.waiting === 0) this.#begin();
      this.#later();
    });
  }

  #begin(): void {
    const { simulation, nodes } = this.#cluster;
    // One that is cut off takes them, and gets the nonce before them with a block.
    const cutOff = nodes.filter((each) => each.serving && this.#cluster.isUnreachable(each));
    const node = this.#random.pick(cutOff.length > 0 ? cutOff : nodes);
    const held = this.#nonce++;
    this.#held = held;
    this.#burst = { node, held, promisedAt: new Map() };
    const count = this.#random.integer(1, LATER_MAX);
    for (let sent = 0; sent < count; sent++) this.#sendMaybeTwice(node, this.#nonce++);
    const holdMs = this.#random.between(...HOLD_MS);
    const lastAt = simulation.now + holdMs + (this.#random.chance(0.5) ? HOLD_MS_MAX : 0);
    simulation.after(holdMs / 2, undefined, () => this.#askForNext(node, held));
    simulation.after(holdMs, undefined, () => this.#release(held, { node, lastAt }));
  }

  #release(held: number, late: { readonly node: ClusterNode; readonly lastAt: number }): void {
    const { simulation, nodes } = this.#cluster;
    // The chain may have been rewound meanwhile.
    if (this.#held !== held) return;
    if (this.isActive && simulation.now < late.lastAt && !this.#cluster.isUnreachable(late.node)) {
      simulation.after(HOLD_STEP_MS, undefined, () => this.#release(held, late));
      return;
    }
    this.#held = undefined;
    const hears = this.#cluster.isUnreachable(late.node) ? ", which does not hear of it" : "";
    simulation.log("gap-sender", `fills the gap of nonce ${held} before those of node-${late.node.index}${hears}`);
    const others = nodes.filter((node) => node !== late.node);
    this.#sendMaybeTwice(this.#random.pick(others.length > 0 ? others : nodes), held);
  }

  /** A wallet that asks gets the nonce of the gap or a lower one, for which no transaction exists. */
  #askForNext(node: ClusterNode, held: number): void {
    const { simulation, plan } = this.#cluster;
    // What was in removed blocks may come back with the same nonces.
    if (this.#held !== held || plan.rewindEveryMs > 0) return;
    const request = { method: "eth_getTransactionCount", params: [SENDER.address, "pending"] };
    this.#cluster.call(node, request, (answer) => {
      if (answer.kind !== "result" || this.#held !== held || Number(answer.result) <= held) return;
      simulation.violate(
        "answers",
        `node-${node.index}: the next nonce is ${answer.result}, and ${held} was never sent`,
      );
    });
  }

  /** Once a block has brought the nonce of the gap, those after it are next: the node has promised them. */
  #askForPromised({ node, held, promisedAt }: Burst): void {
    const { simulation } = this.#cluster;
    const { rewinds } = this.#ledger;
    let promised = held;
    for (let at = promisedAt.get(held + 1); at !== undefined && node.lostAt < at; at = promisedAt.get(promised + 1))
      promised++;
    if (promised === held) return;
    const ask = (block: string, onNonce: (nonce: number) => void) => {
      const request = { method: "eth_getTransactionCount", params: [SENDER.address, block] };
      this.#cluster.call(node, request, (answer) => {
        const isLost = [...promisedAt.values()].some((at) => node.lostAt >= at);
        if (answer.kind === "result" && !isLost && this.#ledger.rewinds === rewinds) onNonce(Number(answer.result));
      });
    };
    ask("latest", (latest) => {
      if (latest <= held) return;
      ask("pending", (next) => {
        if (next > promised) return;
        const text = `node-${node.index}: the next nonce is ${next}, and ${promised} was acknowledged`;
        simulation.violate("answers", `${text}; ${latest} is that of the newest block`);
      });
    });
  }

  #sendMaybeTwice(node: ClusterNode, nonce: number): void {
    const gwei = this.#random.integer(2, 20);
    this.#send(node, nonce, gwei);
    if (this.#random.chance(0.5)) return;
    this.#cluster.simulation.after(this.#random.between(0, REPLACEMENT_MS_MAX), undefined, () => {
      if (this.#pending.has(nonce)) this.#send(node, nonce, 2 * gwei);
    });
  }

  #watch(): void {
    const { simulation, nodes } = this.#cluster;
    simulation.after(LOOK_MS, undefined, () => {
      this.#forgetIncluded();
      if (this.#burst !== undefined && this.#burst.held !== this.#held) this.#askForPromised(this.#burst);
      for (const each of this.#pending.values()) {
        if (simulation.now - each.sentAt < PATIENCE_MS || isPromised(each)) continue;
        each.sentAt = simulation.now;
        this.#submit(this.#random.pick(nodes), each);
      }
      this.#watch();
    });
  }

  #forgetIncluded(): void {
    const last = this.#ledger.nonces.get(SENDER.address) ?? -1;
    for (const nonce of this.#pending.keys()) if (nonce <= last) this.#pending.delete(nonce);
  }

  #send(node: ClusterNode, nonce: number, gwei: number): void {
    const { simulation } = this.#cluster;
    const price = BigInt(gwei) * GWEI;
    const fields = {
      type: 2,
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      to: this.#random.pick(USERS).address,
      value: 1n,
      data: new Uint8Array(),
      accessList: [],
      gasLimit: 21_000n,
      maxFeePerGas: price,
      maxPriorityFeePerGas: price / 2n,
    } as unknown as TransactionFields;
    const signed = signTransaction(fields, SENDER.key);
    const { promises } = this.#pending.get(nonce) ?? { promises: [] };
    const raw = bytesToHex(encodePooledTransaction(signed));
    const pending = { nonce, raw, hash: signed.hash, sentAt: simulation.now, promises };
    this.#pending.set(nonce, pending);
    this.#submit(node, pending);
  }

  #submit(node: ClusterNode, { nonce, raw, hash, promises }: Pending): void {
    const { simulation } = this.#cluster;
    const { rewinds } = this.#ledger;
    this.#cluster.call(node, { method: "eth_sendRawTransaction", params: [raw] }, (answer) => {
      if (answer.kind !== "result" || this.#ledger.rewinds !== rewinds) return;
      if (answer.result !== hash) simulation.violate("answers", `another hash for ${hash}: ${String(answer.result)}`);
      simulation.log("gap-sender", `nonce ${nonce} acknowledged by node-${node.index}: ${hash}`);
      promises.push({ node, atMs: simulation.now });
      if (node === this.#burst?.node && nonce > this.#burst.held) this.#burst.promisedAt.set(nonce, simulation.now);
      const sender = SENDER.address as Address;
      this.#ledger.acknowledges({ hash, sender, nonce, node: node.index, atMs: simulation.now });
    });
  }
}

function isPromised({ promises }: Pending): boolean {
  return promises.some(({ node, atMs }) => node.lostAt < atMs);
}

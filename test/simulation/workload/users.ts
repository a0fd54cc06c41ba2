import type { Address } from "../../../src/base/primitives/address.ts";
import { bytesToHex } from "../../../src/base/primitives/hex.ts";
import type { TransactionFields } from "../../../src/base/types/transaction/codec.ts";
import { encodePooledTransaction } from "../../../src/base/types/transaction/encode.ts";
import { signTransaction } from "../../../src/base/types/transaction/sign.ts";
import type { Ledger } from "../checks/ledger.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster, ClusterNode } from "../scenario/cluster.ts";
import { CLOCK, FORK_PROBE, LEDGER, RELAY } from "./contracts.ts";
import { CHAIN_ID, HEAVY_USERS, USERS } from "./user-keys.ts";

const GWEI = 10n ** 9n;
/** A user waits so long for a block before the price is raised, or the transaction is sent again. */
const PATIENCE_MS = 20_000;
/** How often a user looks at what waits. */
const LOOK_MS = 3_000;
/** Transactions of a user that wait for blocks, at most. */
const PENDING_MAX = 12;

/** A node that has acknowledged a transaction. */
type Acknowledgement = { readonly node: ClusterNode; readonly atMs: number };

type Pending = {
  readonly nonce: number;
  /** Of this or of another transaction with the nonce. */
  readonly acknowledged: Acknowledgement[];
  readonly fields: TransactionFields;
  readonly hash: string;
  sentAt: number;
  price: bigint;
};

/**
 * What a user sends: `mixed` one transaction after the other, of all kinds; `heavy` several at once, with so much gas that they are executed ahead, and
 * with more effects on each other.
 */
type Workload = "mixed" | "heavy";

/** Transactions of a heavy workload at once, at most. */
const BURST_MAX = 6;
/** More than what is executed ahead needs. */
const HEAVY_GAS = 130_000n;
/** State gas of three new slots (EIP-8037), more than a call of these contracts makes. */
const NEW_SLOTS_GAS = 300_000n;

/** Sends transactions of one account over all nodes, as a wallet does that counts nonces by its own memory. */
export class User {
  readonly #cluster: Cluster;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #account: (typeof USERS)[number];
  readonly #pauseMs: number;
  readonly #workload: Workload;
  /** Gas of calls beyond that of Osaka. */
  readonly #stateGas: bigint;
  #nonce = 0;
  /** Successful calls of the counting contract so far, if all that were sent are included in order. */
  #count = 0;
  readonly #pending = new Map<number, Pending>();
  /** False: it sends nothing new, and only that again which no node has promised to have. */
  isActive = true;

  constructor(
    cluster: Cluster,
    options: {
      readonly index: number;
      readonly pauseMs: number;
      readonly ledger: Ledger;
      readonly workload?: Workload;
    },
  ) {
    this.#workload = options.workload ?? "mixed";
    this.#cluster = cluster;
    this.#ledger = options.ledger;
    this.#random = cluster.simulation.random.stream(`user ${options.index}`);
    this.#account = USERS[options.index]!;
    this.#pauseMs = options.pauseMs;
    this.#stateGas = cluster.plan.fork === "amsterdam" ? NEW_SLOTS_GAS : 0n;
    options.ledger.onRewind(() => this.#beginAnew());
    this.#later();
    this.#watch();
  }

  /** Transactions that were sent and are in no block that was shown. */
  get waiting(): number {
    this.#forgetIncluded();
    return this.#pending.size;
  }

  /** Blocks were removed: what they had is sent no more. */
  #beginAnew(): void {
    const { nonces, model } = this.#ledger;
    const { address } = this.#account;
    this.#pending.clear();
    this.#nonce = (nonces.get(address) ?? -1) + 1;
    this.#count = model.at(model.head)!.counts.get(address) ?? 0;
  }

  #later(): void {
    this.#cluster.simulation.after(this.#random.between(0, 2 * this.#pauseMs), undefined, () => {
      if (!this.isActive) return;
      const burst = this.#workload === "heavy" ? this.#random.integer(1, BURST_MAX) : 1;
      for (let i = 0; i < burst && this.#pending.size < PENDING_MAX; i++) this.#sendNext();
      this.#later();
    });
  }

  #watch(): void {
    this.#cluster.simulation.after(LOOK_MS, undefined, () => {
      this.#sendAgain();
      this.#watch();
    });
  }

  #sendNext(): void {
    const nonce = this.#nonce++;
    const price = BigInt(this.#random.integer(2, 50)) * GWEI;
    this.#send(nonce, price, this.#workload === "heavy" ? this.#drawHeavy(nonce) : this.#draw(nonce));
  }

  /** What waits too long is sent again, mostly at a higher price, which replaces it. */
  #sendAgain(): void {
    this.#forgetIncluded();
    const { now } = this.#cluster.simulation;
    for (const each of [...this.#pending.values()]) {
      if (now - each.sentAt < PATIENCE_MS) continue;
      if (!this.isActive && each.acknowledged.some(({ node, atMs }) => node.lostAt < atMs)) continue;
      const price = this.#random.chance(0.5) ? each.price : (each.price * 3n) / 2n;
      this.#send(each.nonce, price, each.fields);
      return;
    }
  }

  #forgetIncluded(): void {
    const last = this.#ledger.nonces.get(this.#account.address) ?? -1;
    for (const nonce of this.#pending.keys()) if (nonce <= last) this.#pending.delete(nonce);
  }

  /** Successful calls over the relay so far. */
  get #relayed(): number {
    const { model } = this.#ledger;
    return model.at(model.head)!.counts.get(RELAY.address) ?? 0;
  }

  #draw(nonce: number): TransactionFields {
    const random = this.#random;
    const shared = { nonce: BigInt(nonce), chainId: CHAIN_ID, value: 0n, data: new Uint8Array(), accessList: [] };
    const dice = random.fraction();
    if (dice < 0.45) {
      const to = random.pick(USERS).address;
      const fields = { ...shared, type: 2, to, value: BigInt(random.below(1_000_000)), gasLimit: 21_000n };
      return { ...fields, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as unknown as TransactionFields;
    }
    if (dice < 0.9) {
      // Now and then with a wrong expectation: the call fails and the count stays.
      const isWrong = random.chance(0.1);
      const expected = isWrong ? this.#count + 7 : this.#count++;
      const data = Buffer.from(expected.toString(16).padStart(64, "0"), "hex");
      const gasLimit = 100_000n + this.#stateGas;
      const fields = { ...shared, type: 2, to: LEDGER.address, data: new Uint8Array(data), gasLimit };
      return { ...fields, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as unknown as TransactionFields;
    }
    if (dice < 0.95) {
      // Others count over the relay too: the guess is wrong where one of them is first.
      const data = Buffer.from((this.#relayed + (dice < 0.93 ? 0 : 7)).toString(16).padStart(64, "0"), "hex");
      const gasLimit = 130_000n + this.#stateGas;
      const fields = { ...shared, type: 2, to: RELAY.address, data: new Uint8Array(data), gasLimit };
      return { ...fields, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as unknown as TransactionFields;
    }
    const fields = { ...shared, type: 2, to: FORK_PROBE.address, gasLimit: 30_000n };
    return { ...fields, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as unknown as TransactionFields;
  }

  #drawHeavy(nonce: number): TransactionFields {
    const random = this.#random;
    const shared = { type: 2, nonce: BigInt(nonce), chainId: CHAIN_ID, data: new Uint8Array(), accessList: [] };
    const unpriced = { value: 0n, gasLimit: HEAVY_GAS + this.#stateGas, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
    const dice = random.fraction();
    // To others who send, whose nonces and balances change as well.
    const effect = { to: random.pick(HEAVY_USERS).address, value: BigInt(random.below(1_000_000)), data: shared.data };
    if (dice < 0.35) return { ...shared, ...unpriced, ...effect } as TransactionFields;
    if (dice < 0.5) return { ...shared, ...unpriced, to: CLOCK.address } as TransactionFields;
    const isRelayed = dice < 0.7;
    const expected = isRelayed ? this.#relayed : this.#count++;
    const data = new Uint8Array(Buffer.from(expected.toString(16).padStart(64, "0"), "hex"));
    return { ...shared, ...unpriced, to: isRelayed ? RELAY.address : LEDGER.address, data } as TransactionFields;
  }

  #send(nonce: number, price: bigint, fields: TransactionFields): void {
    const priced = { ...fields, maxFeePerGas: price, maxPriorityFeePerGas: price / 2n } as TransactionFields;
    const signed = signTransaction(priced, this.#account.key);
    const { now } = this.#cluster.simulation;
    const acknowledged = this.#pending.get(nonce)?.acknowledged ?? [];
    this.#pending.set(nonce, { nonce, acknowledged, fields, hash: signed.hash, sentAt: now, price });
    const node = this.#random.pick(this.#cluster.nodes);
    this.#submit(node, signed.hash, nonce, bytesToHex(encodePooledTransaction(signed)));
  }

  #submit(node: ClusterNode, hash: string, nonce: number, raw: string): void {
    const { simulation } = this.#cluster;
    const { rewinds } = this.#ledger;
    this.#cluster.call(node, { method: "eth_sendRawTransaction", params: [raw] }, (answer) => {
      if (answer.kind === "error")
        simulation.log(
          `user-${this.#account.index}`,
          `nonce ${nonce} rejected by node-${node.index}: ${answer.message}`,
        );
      if (answer.kind !== "result" || this.#ledger.rewinds !== rewinds) return;
      if (answer.result !== hash) simulation.violate("answers", `another hash for ${hash}: ${String(answer.result)}`);
      const sender = this.#account.address as Address;
      simulation.log(`user-${this.#account.index}`, `nonce ${nonce} acknowledged by node-${node.index}: ${hash}`);
      this.#pending.get(nonce)?.acknowledged.push({ node, atMs: simulation.now });
      this.#ledger.acknowledges({ hash, sender, nonce, node: node.index, atMs: simulation.now });
    });
  }
}

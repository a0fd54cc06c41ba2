import type { Plan } from "../scenario/plan.ts";
import { CLOCK, FORK_PROBE, LEDGER, RELAY } from "../workload/contracts.ts";
import { USER_BALANCE, USERS } from "../workload/user-keys.ts";

/** A block as JSON-RPC answers it, with the members that the model reads. */
export type BlockJson = {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly miner: string;
  readonly baseFeePerGas: string;
  readonly gasLimit: string;
  readonly gasUsed: string;
  /** From Amsterdam on, as the next one. */
  readonly slotNumber?: string;
  readonly blockAccessListHash?: string;
  readonly blobGasUsed: string;
  readonly excessBlobGas: string;
  readonly stateRoot: string;
  readonly transactions: readonly TransactionJson[];
};

type TransactionJson = {
  readonly hash: string;
  readonly from: string;
  readonly to: string;
  readonly nonce: string;
  readonly value: string;
  readonly input: string;
  readonly gas: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  /** Of transactions with blobs, as the next one. */
  readonly maxFeePerBlobGas?: string;
  readonly blobVersionedHashes?: readonly string[];
};

export type ReceiptJson = {
  readonly transactionHash: string;
  readonly status: string;
  readonly gasUsed: string;
  readonly cumulativeGasUsed: string;
  readonly effectiveGasPrice: string;
  /** Of transactions with blobs, as the next one. */
  readonly blobGasUsed?: string;
  readonly blobGasPrice?: string;
  readonly logs: readonly LogJson[];
};

export type LogJson = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly logIndex: string;
};

/** The state after a block, as far as users know it. */
export type ModelState = {
  readonly number: number;
  readonly hash: string;
  readonly stateRoot: string;
  readonly timestamp: number;
  readonly baseFee: bigint;
  /** Who got the tips of the block. */
  readonly miner: string;
  readonly balances: ReadonlyMap<string, bigint>;
  readonly nonces: ReadonlyMap<string, number>;
  /** Successful calls of the counting contract, by caller. */
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
  readonly logs: readonly LogJson[];
};

const CONTRACTS: ReadonlySet<string> = new Set([LEDGER, RELAY, FORK_PROBE, CLOCK].map(({ address }) => address));

const TRANSFER_GAS = 21_000n;
/** EIP-2780: of the sender, of another recipient, and of a value that it gets */
const AMSTERDAM_TRANSFER_GAS = { base: 12_000n, recipient: 3_000n, value: 6_000n };
/** EIP-7708: the log of a value that another account gets */
const TRANSFER_LOG = {
  address: "0xfffffffffffffffffffffffffffffffffffffffe",
  topic: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
};
const ELASTICITY = 2n;
const BASE_FEE_CHANGE = 8n;

/** EIP-4844, and EIP-7691 for what a block takes and aims at. */
const GAS_PER_BLOB = 131_072n;
const BLOB_GAS_MAX = 9n * GAS_PER_BLOB;
const BLOB_GAS_TARGET = 6n * GAS_PER_BLOB;
const BLOB_FEE_UPDATE_FRACTION = 5_007_716n;
/** EIP-7918: a blob costs at least as much as so much gas. */
const BLOB_BASE_COST = 8_192n;

/** The newest fork of the chain, and the Unix time from which it is active. */
export type Fork = { readonly fork: Plan["fork"]; readonly time: number };

/** What a block or an answer says is not what the model has. */
export class ModelDisagreement extends Error {
  override readonly name = "ModelDisagreement";
}

/**
 * The chain as its users understand it, in the plainest way: it executes each block from its transactions, and says what balances, nonces, slots and
 * logs there must be. It knows four contracts and no EVM.
 */
export class Model {
  readonly #states: ModelState[];
  readonly #fork: Fork;
  #parent: BlockJson | undefined;

  constructor(fork: Fork) {
    this.#fork = fork;
    const balances = new Map(USERS.map(({ address }) => [address as string, USER_BALANCE]));
    const empty = {
      hash: "",
      stateRoot: "",
      timestamp: 0,
      baseFee: 0n,
      miner: "",
      nonces: new Map(),
      counts: new Map(),
      logs: [],
    };
    this.#states = [{ ...empty, number: 0, balances, total: 0 }];
  }

  /** Number of the last block. */
  get head(): number {
    return this.#states.length - 1;
  }

  at(number: number): ModelState | undefined {
    return this.#states[number];
  }

  /** What a call of the probe answers on a block: leading zeros of 0, or the slot, which is the number of the block. */
  probe(number: number): string | undefined {
    if ((this.#states[number]?.timestamp ?? 0) < this.#fork.time) return undefined;
    return word(this.#fork.fork === "amsterdam" ? BigInt(number) : 256n);
  }

  /** Forgets all blocks after `number`, which is `last`. */
  rewind(number: number, last: BlockJson | undefined): void {
    if (number >= this.head) return;
    this.#states.length = number + 1;
    this.#parent = last;
  }

  /** Executes the block after its head. @throws ModelDisagreement where it or a receipt is not what it must be */
  execute(block: BlockJson, receipts: readonly ReceiptJson[]): void {
    const parent = this.#states.at(-1)!;
    const execution = new Execution(parent, block, this.#fork);
    execution.checkHeader(this.#parent);
    assertEqual(receipts.length, block.transactions.length, "receipts");
    for (const [index, transaction] of block.transactions.entries()) execution.run(transaction, receipts[index]!);
    this.#states.push(execution.end());
    this.#parent = block;
  }
}

/** One block of the model. */
class Execution {
  readonly #block: BlockJson;
  readonly #parent: ModelState;
  readonly #hasFork: boolean;
  readonly #hasOsaka: boolean;
  readonly #hasAmsterdam: boolean;
  readonly #balances: Map<string, bigint>;
  readonly #nonces: Map<string, number>;
  readonly #counts: Map<string, number>;
  readonly #logs: LogJson[] = [];
  #total: number;
  #gasUsed = 0n;
  #blobGasUsed = 0n;

  constructor(parent: ModelState, block: BlockJson, { fork, time }: Fork) {
    this.#parent = parent;
    this.#block = block;
    this.#hasFork = Number(block.timestamp) >= time;
    this.#hasAmsterdam = this.#hasFork && fork === "amsterdam";
    this.#hasOsaka = this.#hasFork || fork === "amsterdam";
    this.#balances = new Map(parent.balances);
    this.#nonces = new Map(parent.nonces);
    this.#counts = new Map(parent.counts);
    this.#total = parent.total;
  }

  checkHeader(parent: BlockJson | undefined): void {
    const block = this.#block;
    assertEqual(Number(block.number), this.#parent.number + 1, "number");
    assertEqual(block.slotNumber, this.#hasAmsterdam ? block.number : undefined, "slot number");
    assertEqual(block.blockAccessListHash !== undefined, this.#hasAmsterdam, "an access list");
    if (parent === undefined) return;
    assertEqual(block.parentHash, parent.hash, "parent hash");
    if (Number(block.timestamp) < Number(parent.timestamp)) throw new ModelDisagreement("time went back");
    assertEqual(BigInt(block.baseFeePerGas), nextBaseFee(parent), "base fee");
    assertEqual(BigInt(block.excessBlobGas), nextExcessBlobGas(parent, this.#hasOsaka), "excess blob gas");
  }

  run(transaction: TransactionJson, receipt: ReceiptJson): void {
    const { from, to, hash } = transaction;
    const name = `transaction ${hash}`;
    assertEqual(receipt.transactionHash, hash, `${name}: receipt of`);
    assertEqual(Number(transaction.nonce), this.#nonces.get(from) ?? 0, `${name}: nonce`);
    this.#nonces.set(from, Number(transaction.nonce) + 1);
    const baseFee = BigInt(this.#block.baseFeePerGas);
    const tip = least(BigInt(transaction.maxPriorityFeePerGas), BigInt(transaction.maxFeePerGas) - baseFee);
    if (tip < 0n) throw new ModelDisagreement(`${name} pays less than the base fee`);
    assertEqual(BigInt(receipt.effectiveGasPrice), baseFee + tip, `${name}: price`);
    const gasUsed = BigInt(receipt.gasUsed);
    if (gasUsed > BigInt(transaction.gas)) throw new ModelDisagreement(`${name} used more gas than it had`);
    this.#gasUsed += gasUsed;
    assertEqual(BigInt(receipt.cumulativeGasUsed), this.#gasUsed, `${name}: cumulative gas`);
    this.#add(from, -gasUsed * (baseFee + tip));
    this.#add(this.#block.miner, gasUsed * tip);
    this.#payBlobs(transaction, receipt);
    const logs = this.#logs.length;
    const isSuccess = this.#effect(transaction, gasUsed);
    assertEqual(Number(receipt.status) === 1, isSuccess, `${name}: success`);
    assertEqual(text(receipt.logs.map(factsOf)), text(this.#logs.slice(logs).map(factsOf)), `${name}: logs`);
    if (!CONTRACTS.has(to)) assertEqual(gasUsed, this.#transferGas(transaction), `${name}: gas`);
  }

  end(): ModelState {
    const { number, hash, stateRoot, timestamp, baseFeePerGas, gasUsed, miner } = this.#block;
    // From Amsterdam on the larger one of two parts, without what is refunded: these transactions have no refunds.
    const isPart = this.#hasAmsterdam && BigInt(gasUsed) < this.#gasUsed && 2n * BigInt(gasUsed) >= this.#gasUsed;
    if (!isPart) assertEqual(BigInt(gasUsed), this.#gasUsed, "gas used");
    assertEqual(BigInt(this.#block.blobGasUsed), this.#blobGasUsed, "blob gas used");
    if (this.#blobGasUsed > BLOB_GAS_MAX) throw new ModelDisagreement("more blobs than a block takes");
    return {
      number: Number(number),
      hash,
      stateRoot,
      timestamp: Number(timestamp),
      baseFee: BigInt(baseFeePerGas),
      miner,
      balances: this.#balances,
      nonces: this.#nonces,
      counts: this.#counts,
      total: this.#total,
      logs: this.#logs,
    };
  }

  /** The blob fee, which nobody receives. */
  #payBlobs(transaction: TransactionJson, receipt: ReceiptJson): void {
    const { hash, from, blobVersionedHashes = [] } = transaction;
    const gas = BigInt(blobVersionedHashes.length) * GAS_PER_BLOB;
    assertEqual(BigInt(receipt.blobGasUsed ?? 0), gas, `transaction ${hash}: blob gas`);
    if (gas === 0n) return;
    const price = blobBaseFee(BigInt(this.#block.excessBlobGas));
    assertEqual(BigInt(receipt.blobGasPrice ?? 0), price, `transaction ${hash}: blob gas price`);
    if (price > BigInt(transaction.maxFeePerBlobGas ?? 0))
      throw new ModelDisagreement(`${hash} pays less for its blobs`);
    this.#blobGasUsed += gas;
    this.#add(from, -gas * price);
  }

  /** What a transaction does besides paying. @returns whether it succeeds */
  #effect({ from, to, value, input, gas, hash }: TransactionJson, gasUsed: bigint): boolean {
    if (to === FORK_PROBE.address) {
      if (!this.#hasFork) assertEqual(gasUsed, BigInt(gas), "gas of an unknown instruction");
      return this.#hasFork;
    }
    if (to === RELAY.address) {
      this.#count(RELAY.address, input, hash);
      return true;
    }
    if (to === CLOCK.address) {
      this.#log({
        address: CLOCK.address,
        topics: [],
        data: word(BigInt(this.#block.timestamp)) + word(BigInt(this.#block.number)).slice(2),
        hash,
      });
      return true;
    }
    if (to === LEDGER.address) return this.#count(from, input, hash);
    this.#add(from, -BigInt(value));
    this.#add(to, BigInt(value));
    if (this.#hasAmsterdam && BigInt(value) > 0n && from !== to) {
      const topics = [TRANSFER_LOG.topic, word(BigInt(from)), word(BigInt(to))];
      this.#log({ address: TRANSFER_LOG.address, topics, data: word(BigInt(value)), hash });
    }
    return true;
  }

  #transferGas({ from, to, value }: TransactionJson): bigint {
    if (!this.#hasAmsterdam) return TRANSFER_GAS;
    const { base, recipient, value: withValue } = AMSTERDAM_TRANSFER_GAS;
    if (from === to) return base;
    return base + recipient + (BigInt(value) > 0n ? withValue : 0n);
  }

  /** A call of the counting contract. @returns whether it succeeds */
  #count(caller: string, input: string, hash: string): boolean {
    const count = this.#counts.get(caller) ?? 0;
    if (BigInt(input) !== BigInt(count)) return false;
    this.#counts.set(caller, count + 1);
    this.#total++;
    this.#log({ address: LEDGER.address, topics: [word(BigInt(caller))], data: word(BigInt(count + 1)), hash });
    return true;
  }

  #log({ hash, ...log }: Pick<LogJson, "address" | "topics" | "data"> & { readonly hash: string }): void {
    this.#logs.push({
      ...log,
      blockNumber: this.#block.number,
      blockHash: this.#block.hash,
      transactionHash: hash,
      logIndex: `0x${this.#logs.length.toString(16)}`,
    });
  }

  #add(address: string, amount: bigint): void {
    const balance = (this.#balances.get(address) ?? 0n) + amount;
    if (balance < 0n) throw new ModelDisagreement(`${address} spends what it has not`);
    this.#balances.set(address, balance);
  }
}

/** EIP-1559. */
function nextBaseFee({ baseFeePerGas, gasLimit, gasUsed }: BlockJson): bigint {
  const [fee, used, target] = [BigInt(baseFeePerGas), BigInt(gasUsed), BigInt(gasLimit) / ELASTICITY];
  if (used === target) return fee;
  if (used > target) return fee + greatest((fee * (used - target)) / target / BASE_FEE_CHANGE, 1n);
  return fee - (fee * (target - used)) / target / BASE_FEE_CHANGE;
}

/** EIP-4844: how far the blobs so far are above the target. From the fork on EIP-7918: it does not fall while gas costs a multiple of blobs. */
function nextExcessBlobGas({ excessBlobGas, blobGasUsed, baseFeePerGas }: BlockJson, hasFork: boolean): bigint {
  const [excess, used] = [BigInt(excessBlobGas), BigInt(blobGasUsed)];
  if (excess + used < BLOB_GAS_TARGET) return 0n;
  const isCheap = BLOB_BASE_COST * BigInt(baseFeePerGas) > GAS_PER_BLOB * blobBaseFee(excess);
  if (hasFork && isCheap) return excess + (used * (BLOB_GAS_MAX - BLOB_GAS_TARGET)) / BLOB_GAS_MAX;
  return excess + used - BLOB_GAS_TARGET;
}

/** Wei per unit of blob gas: e to the power of the excess over its fraction, by the series of EIP-4844 with each term rounded. */
function blobBaseFee(excess: bigint): bigint {
  let sum = 0n;
  let term = BLOB_FEE_UPDATE_FRACTION;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * excess) / (BLOB_FEE_UPDATE_FRACTION * i);
  }
  return sum / BLOB_FEE_UPDATE_FRACTION;
}

/** A log without what only the node can know. */
export function factsOf({ address, topics, data, blockNumber, blockHash, transactionHash, logIndex }: LogJson) {
  return { address, topics, data, blockNumber, blockHash, transactionHash, logIndex };
}

/** 32 bytes in hex. */
export function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new ModelDisagreement(`${what}: ${String(actual)} and not ${String(expected)}`);
}

export const text = (value: unknown) => JSON.stringify(value);
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const greatest = (a: bigint, b: bigint) => (a > b ? a : b);

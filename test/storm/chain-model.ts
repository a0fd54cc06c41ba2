import { isDeepStrictEqual } from "node:util";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import type { Hex } from "../../src/base/primitives/hex.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import { type Contracts, DEPLOYMENTS, deployedCode, inputWords, TOKEN_SUPPLY } from "./contracts.ts";
import { StormFailure } from "./failure.ts";

/** The fields of `eth_getBlockByNumber` with transactions that the model reads. */
export type BlockAnswer = {
  readonly number: Hex;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly miner: Address;
  readonly baseFeePerGas: Hex;
  /** From Amsterdam on. */
  readonly slotNumber?: Hex;
  readonly transactions: readonly TransactionAnswer[];
};

type TransactionAnswer = {
  readonly hash: Hash;
  readonly from: Address;
  readonly to: Address | null;
  readonly nonce: Hex;
  readonly value: Hex;
  readonly input: Hex;
};

export type ReceiptAnswer = {
  readonly transactionHash: Hash;
  readonly blockNumber: Hex;
  readonly blockHash: Hash;
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly contractAddress: Address | null;
  readonly logs: readonly unknown[];
};

type ModelBlock = { readonly block: BlockAnswer; readonly receipts: readonly ReceiptAnswer[] };

/** What the transactions of the storm do, worked out without an EVM: what a node answers about its state is compared with it. */
export class ChainModel {
  readonly #contracts: Contracts;
  readonly #funded: ReadonlyMap<Address, bigint>;
  /** By number, from block 1 on; block 0 has its hash alone. */
  #blocks: ModelBlock[] = [];
  #genesisHash: Hash | undefined;
  #state!: ModelState;

  constructor(contracts: Contracts, funded: ReadonlyMap<Address, bigint>) {
    this.#contracts = contracts;
    this.#funded = funded;
    this.#reset();
  }

  /** Number of the newest block. */
  get head(): number {
    return this.#blocks.length;
  }

  get blocksOfAmsterdam(): number {
    return this.#blocks.filter(hasTransferLogs).length;
  }

  hashOf(number: number): Hash | undefined {
    return number === 0 ? this.#genesisHash : this.#blocks[number - 1]?.block.hash;
  }

  transactionsOf(number: number): readonly TransactionAnswer[] {
    return this.#blocks[number - 1]?.block.transactions ?? [];
  }

  receiptsOf(number: number): readonly ReceiptAnswer[] {
    return this.#blocks[number - 1]?.receipts ?? [];
  }

  /** Where a transaction with this nonce is. */
  included(sender: Address, nonce: bigint): { readonly hash: Hash; readonly number: number } | undefined {
    return this.#state.included.get(`${sender} ${nonce}`);
  }

  nonceOf(account: Address): bigint {
    return this.#state.nonces.get(account) ?? 0n;
  }

  balanceOf(account: Address): bigint {
    return this.#state.balances.get(account) ?? 0n;
  }

  /** Every account that ever received ether. */
  get accounts(): readonly Address[] {
    return [...this.#state.balances.keys()];
  }

  get recorded(): ReadonlyMap<bigint, bigint> {
    return this.#state.slots;
  }

  get recorderCalls(): bigint {
    return this.#state.recorderCalls;
  }

  get spinnerCalls(): bigint {
    return this.#state.spinnerCalls;
  }

  /** Every account that ever owned tokens. */
  get tokenOwners(): readonly Address[] {
    return [...this.#state.tokens.keys()];
  }

  tokensOf(account: Address): bigint {
    return this.#state.tokens.get(account) ?? 0n;
  }

  /** Code by address of the contracts whose code is known. */
  get codes(): ReadonlyMap<Address, Hex> {
    return this.#state.codes;
  }

  /** Logs of the recorder in the blocks `first` to `last`. */
  recorderLogs(first: number, last: number): number {
    let count = 0;
    for (let number = Math.max(1, first); number <= last; number++) count += this.#state.logs[number] ?? 0;
    return count;
  }

  setGenesis(hash: Hash): void {
    this.#genesisHash = hash;
  }

  /** Adds the next block. @throws StormFailure where its receipts are not what its transactions do */
  apply(block: BlockAnswer, receipts: readonly ReceiptAnswer[]): void {
    const number = Number(block.number);
    if (number !== this.head + 1 || block.parentHash !== this.hashOf(this.head)) {
      throw new StormFailure("BLOCK_CHANGED", `block ${number} ${block.hash} does not continue block ${this.head}`);
    }
    this.#apply({ block, receipts });
    this.#blocks.push({ block, receipts });
  }

  /** Forgets the blocks after `number`. */
  rollbackTo(number: number): void {
    const blocks = this.#blocks.slice(0, number);
    this.#reset();
    for (const each of blocks) this.#apply(each);
    this.#blocks = blocks;
  }

  #reset(): void {
    this.#blocks = [];
    this.#state = {
      nonces: new Map(),
      balances: new Map(this.#funded),
      included: new Map(),
      slots: new Map(),
      tokens: new Map(),
      codes: new Map(),
      logs: [],
      recorderCalls: 0n,
      spinnerCalls: 0n,
    };
  }

  #apply({ block, receipts }: ModelBlock): void {
    const number = Number(block.number);
    if (receipts.length !== block.transactions.length) {
      throw new StormFailure("RECEIPT_CHANGED", `block ${number} has ${receipts.length} receipts`);
    }
    for (const [index, tx] of block.transactions.entries()) {
      const receipt = receipts[index]!;
      const nonce = BigInt(tx.nonce);
      if (nonce !== this.nonceOf(tx.from)) {
        throw new StormFailure("STATE_DIFFERS", `nonce ${nonce} of ${tx.from} in block ${number}`);
      }
      this.#state.nonces.set(tx.from, nonce + 1n);
      this.#state.included.set(`${tx.from} ${nonce}`, { hash: tx.hash, number });
      this.#payFee(block, tx.from, receipt);
      const { status, logs } = this.#execute(tx, receipt, hasTransferLogs({ block }));
      const isAsExpected =
        Number(receipt.status) === status &&
        receipt.logs.length === logs &&
        receipt.transactionHash === tx.hash &&
        receipt.blockHash === block.hash;
      if (!isAsExpected) {
        throw new StormFailure("RECEIPT_CHANGED", `transaction ${tx.hash}: ${JSON.stringify(receipt)}`);
      }
    }
  }

  #payFee(block: BlockAnswer, sender: Address, receipt: ReceiptAnswer): void {
    const gas = BigInt(receipt.gasUsed);
    const price = BigInt(receipt.effectiveGasPrice);
    this.#credit(sender, -gas * price);
    this.#credit(block.miner, gas * (price - BigInt(block.baseFeePerGas)));
  }

  /** @returns the status and the number of logs that the receipt must have */
  #execute(tx: TransactionAnswer, receipt: ReceiptAnswer, hasLog: boolean): Effect {
    if (tx.to === null) return this.#create(tx, receipt);
    const value = BigInt(tx.value);
    this.#credit(tx.from, -value);
    this.#credit(tx.to, value);
    const { recorder, token, spinner } = this.#contracts;
    const state = this.#state;
    if (!state.codes.has(tx.to) && tx.to !== token) return { status: 1, logs: hasLog && value > 0n ? 1 : 0 };
    if (tx.to === recorder) {
      const [slot, stored] = inputWords(tx.input);
      state.recorderCalls++;
      state.slots.set(slot!, stored!);
      const number = Number(receipt.blockNumber);
      state.logs[number] = (state.logs[number] ?? 0) + 1;
      return { status: 1, logs: 1 };
    }
    if (tx.to === spinner) state.spinnerCalls++;
    if (tx.to !== token || state.tokens.size === 0) return { status: 1, logs: 0 };
    return this.#transferTokens(tx);
  }

  #transferTokens({ from, input }: TransactionAnswer): Effect {
    const [to, amount] = inputWords(input, 4);
    const owned = this.tokensOf(from);
    if (owned < amount!) return { status: 0, logs: 0 };
    const recipient = `0x${to!.toString(16).padStart(40, "0")}` as Address;
    this.#state.tokens.set(from, owned - amount!);
    this.#state.tokens.set(recipient, this.tokensOf(recipient) + amount!);
    return { status: 1, logs: 1 };
  }

  #create(tx: TransactionAnswer, receipt: ReceiptAnswer): Effect {
    const address = createAddress(tx.from, BigInt(tx.nonce));
    if (receipt.contractAddress !== address) {
      throw new StormFailure("RECEIPT_CHANGED", `${tx.hash} created ${receipt.contractAddress}, not ${address}`);
    }
    const code = deployedCode(tx.input);
    if (code !== undefined) this.#state.codes.set(address, code);
    if (address !== this.#contracts.token || tx.input !== DEPLOYMENTS[1]) return { status: 1, logs: 0 };
    this.#state.tokens.set(tx.from, TOKEN_SUPPLY);
    return { status: 1, logs: 1 };
  }

  #credit(account: Address, amount: bigint): void {
    this.#state.balances.set(account, this.balanceOf(account) + amount);
  }
}

type Effect = { readonly status: number; readonly logs: number };

/** From Amsterdam on each transfer of ether to another account has a log (EIP-7708). */
const hasTransferLogs = ({ block }: Pick<ModelBlock, "block">) => block.slotNumber !== undefined;

type ModelState = {
  readonly nonces: Map<Address, bigint>;
  readonly balances: Map<Address, bigint>;
  /** By sender and nonce. */
  readonly included: Map<string, { readonly hash: Hash; readonly number: number }>;
  /** Of the recorder. */
  readonly slots: Map<bigint, bigint>;
  readonly tokens: Map<Address, bigint>;
  readonly codes: Map<Address, Hex>;
  /** Of the recorder, by block number. */
  readonly logs: number[];
  recorderCalls: bigint;
  spinnerCalls: bigint;
};

/** True for two answers with the same fields and values. */
export const isSameAnswer = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);

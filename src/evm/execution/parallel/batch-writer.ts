import { invariant } from "../../../base/errors.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { concatBytes } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { BlockContext, ExecutionResult, Message } from "../../machine/evm.ts";
import type { Halt } from "../../machine/halts.ts";
import type { EvmAccount } from "../../machine/state-port.ts";
import { OUTCOMES, type RecordedBatch, read, recordedBlock, write } from "./recorded-batch.ts";

export type Read =
  | { readonly kind: "account"; readonly address: Address; readonly account: EvmAccount | undefined }
  | { readonly kind: "slot"; readonly address: Address; readonly slot: Hash; readonly value: bigint }
  | { readonly kind: "hasStorage"; readonly address: Address; readonly value: boolean };

export type Write =
  | { readonly kind: "account"; readonly address: Address; readonly account: EvmAccount }
  | { readonly kind: "slot"; readonly address: Address; readonly slot: Hash; readonly value: bigint }
  | { readonly kind: "touch"; readonly address: Address }
  | { readonly kind: "code"; readonly code: Uint8Array };

/** What an execution reported of an account or a slot that it looked at. */
export type Access = readonly [address: Address, slot: Hash | undefined];

/** One execution, before it is encoded. */
export type Recorded = {
  readonly message: Message;
  readonly block: BlockContext;
  readonly reads: readonly Read[];
  readonly writes: readonly Write[];
  /** The values that its block requested. */
  readonly accesses: readonly Access[];
  readonly result: ExecutionResult;
  /** Nonce and balance of the caller had no effect. */
  readonly isCallerUnread: boolean;
};

/** Encodes recorded executions. */
export class BatchWriter {
  #block: BlockContext | undefined;
  #hashes: Hash[] = [];
  #starts: number[] = [];
  #words: number[] = [];
  #names: string[] = [];
  #indexes = new Map<string, number>();
  #values: bigint[] = [];
  #bytes: Uint8Array[] = [];
  #size = 0;
  #halts: Halt[] = [];

  /** @param block the same in all of a batch */
  add(hash: Hash, { message, block, reads, writes, accesses, result, isCallerUnread }: Recorded): void {
    this.#block ??= block;
    invariant(this.#block === block, "a batch is of one block");
    const { caller, to, createAddress, gas, reservoir = 0n, gasPrice, value, warmAddresses } = message;
    this.#hashes.push(hash);
    this.#starts.push(this.#words.length);
    this.#name(caller);
    this.#name(to ?? createAddress!);
    this.#value(gas);
    this.#value(reservoir);
    this.#value(gasPrice);
    this.#value(value);
    this.#list(warmAddresses, (address) => this.#name(address));
    const unread = isCallerUnread ? caller : undefined;
    this.#list(reads, (each) => this.#read(each, unread));
    const before = reads.find((each) => each.kind === "account" && each.address === unread);
    const balance = (before?.kind === "account" && before.account?.balance) || 0n;
    this.#list(writes, (each) => this.#write(each, unread, balance));
    this.#list(accesses, ([address, slot]) => {
      this.#name(address);
      this.#words.push(slot === undefined ? 0 : 1);
      if (slot !== undefined) this.#name(slot);
    });
    const { outcome, halt, gasLeft, reservoirLeft = 0n, spilled = 0n } = result;
    const { gasRefund, returnData, logs, selfDestructs } = result;
    this.#words.push(OUTCOMES.indexOf(outcome), halt === undefined ? 0 : this.#halts.push(halt));
    this.#value(gasLeft);
    this.#value(reservoirLeft);
    this.#value(spilled);
    this.#value(gasRefund);
    this.#data(returnData);
    this.#list(logs, ({ address, topics, data }) => {
      this.#name(address);
      this.#list(topics, (topic) => this.#name(topic));
      this.#data(data);
    });
    this.#list(selfDestructs, (address) => this.#name(address));
  }

  /** What was added since the last call. */
  take(): RecordedBatch {
    const batch: RecordedBatch = {
      block: this.#block && recordedBlock(this.#block),
      hashes: this.#hashes,
      starts: Uint32Array.from(this.#starts),
      words: Uint32Array.from(this.#words),
      names: this.#names,
      values: this.#values,
      bytes: concatBytes(...this.#bytes),
      halts: this.#halts,
    };
    this.#block = undefined;
    this.#hashes = [];
    this.#starts = [];
    this.#words = [];
    this.#names = [];
    this.#indexes = new Map();
    this.#values = [];
    this.#bytes = [];
    this.#size = 0;
    this.#halts = [];
    return batch;
  }

  #read(each: Read, unread: string | undefined): void {
    switch (each.kind) {
      case "slot":
        this.#words.push(read.slot);
        this.#name(each.address);
        this.#name(each.slot);
        this.#value(each.value);
        break;
      case "hasStorage":
        this.#words.push(read.hasStorage);
        this.#name(each.address);
        this.#words.push(each.value ? 1 : 0);
        break;
      case "account": {
        const { address, account } = each;
        if (account === undefined) this.#words.push(read.noAccount);
        else this.#words.push(address === unread ? read.sender : read.account);
        this.#name(address);
        if (account === undefined) return;
        if (address !== unread) {
          this.#value(account.nonce);
          this.#value(account.balance);
        }
        this.#name(account.codeHash);
      }
    }
  }

  /** @param before balance of the account `unread` before the execution */
  #write(each: Write, unread: string | undefined, before: bigint): void {
    switch (each.kind) {
      case "slot":
        this.#words.push(write.slot);
        this.#name(each.address);
        this.#name(each.slot);
        this.#value(each.value);
        break;
      case "touch":
        this.#words.push(write.touch);
        this.#name(each.address);
        break;
      case "code":
        this.#words.push(write.code);
        this.#data(each.code);
        break;
      case "account": {
        const { address, account } = each;
        this.#words.push(address === unread ? write.sender : write.account);
        this.#name(address);
        if (address === unread) {
          this.#value(before - account.balance);
          return;
        }
        this.#value(account.nonce);
        this.#value(account.balance);
        this.#name(account.codeHash);
      }
    }
  }

  #list<T>(elements: readonly T[], encode: (element: T) => void): void {
    this.#words.push(elements.length);
    for (const element of elements) encode(element);
  }

  #name(name: string): void {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = this.#names.push(name) - 1;
      this.#indexes.set(name, index);
    }
    this.#words.push(index);
  }

  #value(value: bigint): void {
    this.#words.push(this.#values.push(value) - 1);
  }

  #data(data: Uint8Array): void {
    this.#words.push(this.#size, this.#size + data.length);
    this.#size += data.length;
    this.#bytes.push(data);
  }
}

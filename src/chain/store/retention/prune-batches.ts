import { EMPTY_BYTES, equalBytes } from "../../../primitives/bytes.ts";
import { hashToBytes } from "../../../primitives/hash.ts";
import { keccak256 } from "../../../primitives/keccak.ts";
import type { KvWriter } from "../../../storage/kv.ts";
import { inRowOrder } from "../../../storage/row-order.ts";
import type { AddressIndex } from "../../addresses/address-index.ts";
import { decodeBlockRecord, decodeChangeRows } from "../../records/block-record.ts";
import type { BlockReader } from "../block-reader.ts";
import type { BlockIndex } from "../index/block-index.ts";
import { historyPaths } from "../nodes/node-history.ts";
import type { PrunedKind } from "./pruned-range.ts";

const ADDRESS_LENGTH = 20;

/** What the steps of a batch work on. */
export type PruneModules = {
  readonly index: BlockIndex;
  readonly blocks: Pick<BlockReader, "header">;
  readonly addresses: Pick<AddressIndex, "prune">;
};

/** One write of a transaction. It can be made again. */
export type PruneStep = (writer: KvWriter) => void;

/** Some blocks whose rows of one kind are removed together: what several of them changed once, and neighbours one after the other. */
export interface PruneBatch {
  /** Rows, about. */
  readonly size: number;
  add(number: number, payload: Buffer): void;
  /** Removes the rows of all blocks that were added. */
  steps(): Generator<PruneStep>;
}

class StatesBatch implements PruneBatch {
  readonly #modules: PruneModules;
  readonly #accounts: Uint8Array[] = [];
  readonly #slots: Uint8Array[] = [];
  readonly #numbers: number[] = [];

  constructor(modules: PruneModules) {
    this.#modules = modules;
  }

  get size(): number {
    return this.#accounts.length + this.#slots.length;
  }

  add(number: number, payload: Buffer): void {
    const { accounts, slots } = decodeChangeRows(payload);
    for (const { key } of accounts) this.#accounts.push(key);
    for (const { key } of slots) this.#slots.push(key);
    this.#numbers.push(number);
  }

  *steps(): Generator<PruneStep> {
    const { index, blocks } = this.#modules;
    for (const key of distinct(this.#accounts)) {
      yield (writer) => index.accounts.prune(writer, key);
    }
    for (const key of distinct(this.#slots)) yield (writer) => index.slots.prune(writer, key);
    for (const number of this.#numbers) {
      if (number === 0 || index.position(number - 1) === undefined) continue;
      const old = blocks.header(number - 1).stateRoot;
      const next = blocks.header(number).stateRoot === old ? number : undefined;
      yield (writer) => index.moveStateRoot(writer, old, number - 1, next);
    }
  }
}

class ProofsBatch implements PruneBatch {
  readonly #modules: PruneModules;
  readonly #places = new Map<string, { readonly owner: Uint8Array; readonly path: Uint8Array }>();

  constructor(modules: PruneModules) {
    this.#modules = modules;
  }

  get size(): number {
    return this.#places.size;
  }

  add(_number: number, payload: Buffer): void {
    const { accounts, slots } = decodeChangeRows(payload);
    for (const { key } of accounts) this.#addPlaces(EMPTY_BYTES, keccak256(key));
    let address = EMPTY_BYTES;
    let owner = EMPTY_BYTES;
    for (const { key } of slots) {
      if (!equalBytes(key.subarray(0, ADDRESS_LENGTH), address)) {
        address = key.subarray(0, ADDRESS_LENGTH);
        owner = keccak256(address);
        this.#addPlaces(EMPTY_BYTES, owner);
      }
      this.#addPlaces(owner, keccak256(key.subarray(ADDRESS_LENGTH)));
    }
  }

  *steps(): Generator<PruneStep> {
    const { nodeHistory, pruned } = this.#modules.index;
    const last = pruned.proofs.base;
    for (const { owner, path } of this.#places.values()) {
      yield (writer) => nodeHistory.prune(writer, owner, path, last);
    }
  }

  /** All places on the way to `key` in the trie of `owner`. */
  #addPlaces(owner: Uint8Array, key: Uint8Array): void {
    const trie = Buffer.from(owner).toString("latin1");
    for (const path of historyPaths(key)) this.#places.set(`${trie} ${path}`, { owner, path });
  }
}

class BlocksBatch implements PruneBatch {
  readonly #modules: PruneModules;
  readonly #transactions: { readonly hash: Uint8Array; readonly number: number }[] = [];
  readonly #others: Iterable<PruneStep>[] = [];

  constructor(modules: PruneModules) {
    this.#modules = modules;
  }

  get size(): number {
    return this.#transactions.length;
  }

  add(number: number, payload: Buffer): void {
    const { index, addresses } = this.#modules;
    const record = decodeBlockRecord(payload);
    for (const { hash } of record.block.transactions) {
      this.#transactions.push({ hash: hashToBytes(hash), number });
    }
    this.#others.push(
      index.logs.pruneSteps(record, index.pruned.blocks.base),
      addresses.prune(record),
      [(writer) => index.removeBlock(writer, record.block.hash, number)],
    );
  }

  *steps(): Generator<PruneStep> {
    const { index } = this.#modules;
    for (const { hash, number } of inRowOrder(this.#transactions, ({ hash }) => hash)) {
      yield (writer) => index.removeTransaction(writer, hash, number);
    }
    for (const steps of this.#others) yield* steps;
  }
}

export const PRUNE_BATCHES: Readonly<
  Record<PrunedKind, new (modules: PruneModules) => PruneBatch>
> = { states: StatesBatch, proofs: ProofsBatch, blocks: BlocksBatch };

/** Keys in the order of their rows, without most that come twice. */
function* distinct(keys: readonly Uint8Array[]): Generator<Uint8Array> {
  let last = EMPTY_BYTES;
  for (const key of inRowOrder(keys, (key) => key)) {
    if (!equalBytes(key, last)) yield key;
    last = key;
  }
}

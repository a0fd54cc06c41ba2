import { EMPTY_BYTES, equalBytes } from "../../../base/primitives/bytes.ts";
import { hashToBytes } from "../../../base/primitives/hash.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import type { KvWriter } from "../../../store/storage/kv.ts";
import { inRowOrder } from "../../../store/storage/row-order.ts";
import type { AddressIndex } from "../../addresses/address-index.ts";
import { decodeAddressParts, decodeChangedKeys } from "../../records/block-record.ts";
import { readHashesAndLogs } from "../../records/indexed-block.ts";
import type { BlockIndex } from "../index/block-index.ts";
import type { PrunedKind } from "../index/pruned-range.ts";
import type { BlockReader } from "../log/block-reader.ts";
import { HISTORY_DEPTH, historyPaths } from "../nodes/node-history.ts";

const ADDRESS_LENGTH = 20;

/** What the steps of a batch work on. */
export type PruneModules = {
  readonly index: BlockIndex;
  readonly blocks: Pick<BlockReader, "header">;
  readonly addresses: Pick<AddressIndex, "prune">;
};

/** One write of a transaction. It can be made again. */
export type PruneStep = (writer: KvWriter) => void;

/** Of work without rows, which takes time too. */
export const NO_ROWS: PruneStep = () => {};

/** Work that writes nothing, with its pauses. */
export function* withoutRows<T>(work: Generator<void, T>): Generator<PruneStep, T> {
  for (;;) {
    const next = work.next();
    if (next.done) return next.value;
    yield NO_ROWS;
  }
}

/** Blocks whose rows of one kind are removed together: what several of them changed once, and neighbours one after the other. */
export interface PruneBatch {
  /** Rows, about. */
  readonly size: number;
  /** Adds a block, with a pause after each key: a block can have all of a state. `remove` may run in any of them. */
  add(number: number, payload: Uint8Array): Generator<PruneStep>;
  /** Removes the rows of all that was added, which is then forgotten. */
  remove(): Generator<PruneStep>;
}

class StatesBatch implements PruneBatch {
  readonly #modules: PruneModules;
  #accounts: Uint8Array[] = [];
  #slots: Uint8Array[] = [];
  #numbers: number[] = [];

  constructor(modules: PruneModules) {
    this.#modules = modules;
  }

  get size(): number {
    return this.#accounts.length + this.#slots.length;
  }

  *add(number: number, payload: Uint8Array): Generator<PruneStep> {
    for (const key of decodeChangedKeys(payload)) {
      (key.length === ADDRESS_LENGTH ? this.#accounts : this.#slots).push(key);
      yield NO_ROWS;
    }
    this.#numbers.push(number);
  }

  *remove(): Generator<PruneStep> {
    const { index, blocks } = this.#modules;
    for (const key of distinct(this.#accounts)) {
      yield (writer) => index.accounts.prune(writer, key);
    }
    for (const key of distinct(this.#slots)) yield (writer) => index.slots.prune(writer, key);
    for (const number of this.#numbers) {
      if (number === 0 || index.blocks.position(number - 1) === undefined) continue;
      const old = blocks.header(number - 1).stateRoot;
      const next = blocks.header(number).stateRoot === old ? number : undefined;
      yield (writer) => index.blocks.moveStateRoot(writer, old, number - 1, next);
    }
    this.#accounts = [];
    this.#slots = [];
    this.#numbers = [];
  }
}

class ProofsBatch implements PruneBatch {
  readonly #modules: PruneModules;
  #places = new HistoryPlaces();

  constructor(modules: PruneModules) {
    this.#modules = modules;
  }

  get size(): number {
    return this.#places.size;
  }

  *add(_number: number, payload: Uint8Array): Generator<PruneStep> {
    let address = EMPTY_BYTES;
    let owner: Uint8Array | undefined;
    for (const key of decodeChangedKeys(payload)) {
      if (key.length === ADDRESS_LENGTH) {
        address = key;
        owner = undefined;
        if (!this.#places.hasAll(EMPTY_BYTES)) this.#places.add(EMPTY_BYTES, keccak256(key));
      } else {
        owner ??= keccak256(address);
        this.#places.add(owner, keccak256(key.subarray(ADDRESS_LENGTH)));
      }
      yield NO_ROWS;
    }
  }

  *remove(): Generator<PruneStep> {
    const { nodeHistory, pruned } = this.#modules.index;
    const last = pruned.proofs.base;
    for (const { owner, path } of this.#places.all()) {
      yield (writer) => nodeHistory.prune(writer, owner, path, last);
    }
    this.#places = new HistoryPlaces();
  }
}

class BlocksBatch implements PruneBatch {
  readonly #modules: PruneModules;
  #transactions: { readonly hash: Uint8Array; readonly number: number }[] = [];
  #others: Iterable<PruneStep>[] = [];

  constructor(modules: PruneModules) {
    this.#modules = modules;
  }

  get size(): number {
    return this.#transactions.length;
  }

  *add(number: number, payload: Uint8Array): Generator<PruneStep> {
    const { index, addresses } = this.#modules;
    const parts = yield* withoutRows(readHashesAndLogs(payload));
    for (const { hash } of parts.block.transactions) {
      this.#transactions.push({ hash: hashToBytes(hash), number });
    }
    this.#others.push(
      index.logs.pruneSteps(parts, index.pruned.blocks.base),
      addresses.prune(number, () => decodeAddressParts(payload)),
      [(writer) => index.blocks.remove(writer, parts.block.hash, number)],
    );
  }

  *remove(): Generator<PruneStep> {
    const { index } = this.#modules;
    for (const { hash, number } of inRowOrder(this.#transactions, ({ hash }) => hash)) {
      yield (writer) => index.blocks.removeTransaction(writer, hash, number);
    }
    for (const steps of this.#others) yield* steps;
    this.#transactions = [];
    this.#others = [];
  }
}

export const PRUNE_BATCHES: Readonly<Record<PrunedKind, new (modules: PruneModules) => PruneBatch>> = {
  states: StatesBatch,
  proofs: ProofsBatch,
  blocks: BlocksBatch,
};

/** Keys in the order of their rows, without most that come twice. */
function* distinct(keys: readonly Uint8Array[]): Generator<Uint8Array> {
  let last = EMPTY_BYTES;
  for (const key of inRowOrder(keys, (key) => key)) {
    if (!equalBytes(key, last)) yield key;
    last = key;
  }
}

/** Values of the first byte of a key, which says all paths of stored versions on the way to it. */
const FIRST_BYTES = 256;

type Trie = { readonly owner: Uint8Array; readonly has: Uint8Array; count: number };

/** The places of stored versions on the way to some keys, each once. */
export class HistoryPlaces {
  readonly #tries = new Map<string, Trie>();
  #last: Trie | undefined;
  #size = 0;

  /** Places, without those at a shorter path. */
  get size(): number {
    return this.#size;
  }

  /** True when no key of the trie of `owner` can add a place. */
  hasAll(owner: Uint8Array): boolean {
    return this.#trie(owner).count === FIRST_BYTES;
  }

  /** Adds the places on the way to `key` in the trie of `owner`, as in TrieNodeReader. */
  add(owner: Uint8Array, key: Uint8Array): void {
    const trie = this.#trie(owner);
    const first = key[0]!;
    if (trie.has[first] === 1) return;
    trie.has[first] = 1;
    trie.count++;
    this.#size++;
  }

  *all(): Generator<{ readonly owner: Uint8Array; readonly path: Uint8Array }> {
    for (const { owner, has } of this.#tries.values()) {
      let last = new Uint8Array(0);
      for (let first = 0; first < FIRST_BYTES; first++) {
        if (has[first] === 0) continue;
        const isFirst = last.length === 0;
        for (const path of historyPaths(Uint8Array.of(first))) {
          const isLast = path.length === HISTORY_DEPTH;
          if (isFirst || isLast || path.some((nibble, i) => nibble !== last[i])) {
            yield { owner, path };
          }
          if (isLast) last = path.slice();
        }
      }
    }
  }

  #trie(owner: Uint8Array): Trie {
    // The keys of one trie come one after the other.
    if (this.#last?.owner === owner) return this.#last;
    const name = Buffer.from(owner.buffer, owner.byteOffset, owner.length).toString("latin1");
    let trie = this.#tries.get(name);
    if (trie === undefined) {
      trie = { owner, has: new Uint8Array(FIRST_BYTES), count: 0 };
      this.#tries.set(name, trie);
    }
    this.#last = trie;
    return trie;
  }
}

import { byPrefix } from "../../../store/storage/row-order.ts";
import { COLUMNS, HASH_WORD, LENGTH, NodeBatch, PLACE } from "../../../store/trie/node-batch.ts";

/** A chain makes some twenty nodes a block: from a thousand on, each of the first hundreds of blocks would pay for a table that grows. */
const TABLE_MIN = 16_384;

/** A place with its newest node, undefined once removed; views. */
export type WaitingNode = {
  readonly owner: Uint8Array;
  readonly path: Uint8Array;
  readonly newest: { readonly hash: Uint8Array; readonly rlp: Uint8Array } | undefined;
};

/** Trie nodes of blocks that no merge has written. */
export interface WaitingNodes {
  /** Memory that they take, about. */
  readonly bytes: number;
  /** Places that a node was added to or replaced at. */
  readonly places: number;
  /** Adds the nodes of block `number`. */
  add(number: number, batch: NodeBatch): void;
  /** RLP of the node with `hash` at the place `path` of the trie of `owner`, a view that stays valid. */
  find(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined;
  node(place: number): WaitingNode;
  /** Places in the order of their rows, as far as the first nibbles say: rows near each other are written one after the other. */
  sortedPlaces(): Uint32Array;
}

/**
 * The trie nodes of blocks that no merge has written: all of them by hash, and for each place the newest one. Held as `NodeBatch` holds
 * them, without an object a node. The newest blocks can be removed again: entries leave both tables in the reverse of the order in which
 * they came, so that linear probing needs no marks for removed ones; where most leave, the tables are made anew.
 */
export class PendingNodes implements WaitingNodes {
  readonly nodes = new NodeBatch();
  /** Open-addressed: entry + 1 by hash, place + 1 by place. */
  #byHash: Int32Array;
  #byPlace: Int32Array;
  #hashCount = 0;
  /** By place: the first entry that is there; how its row is sorted; the newest node or −1. */
  readonly #firstOf: number[] = [];
  readonly #prefixOf: number[] = [];
  readonly #newestOf: number[] = [];
  /** By entry: its place, and the newest node there before. */
  readonly #placeOf: number[] = [];
  readonly #replacedOf: number[] = [];
  /** By block: its number, and what was there before it. */
  readonly #blocks: { readonly number: number; readonly size: number; readonly bytes: number }[] = [];

  /** @param last whose tables these ones are as large as: a block that makes them larger takes some milliseconds more */
  constructor(last?: PendingNodes) {
    this.#byHash = new Int32Array(last === undefined ? TABLE_MIN : last.#byHash.length);
    this.#byPlace = new Int32Array(last === undefined ? TABLE_MIN : last.#byPlace.length);
  }

  get bytes(): number {
    return this.nodes.bytes;
  }

  get places(): number {
    return this.#firstOf.length;
  }

  add(number: number, batch: NodeBatch): void {
    const first = this.nodes.size;
    this.#blocks.push({ number, size: first, bytes: this.nodes.bytes });
    this.nodes.append(batch);
    this.#index(first);
  }

  /** Puts the entries from number `first` on into both tables. One loop, without a function for each entry, since blocks of few changes run it cold. */
  #index(first: number): void {
    const { nodes } = this;
    const { columns, size } = nodes;
    while ((this.#firstOf.length + size - first) * 2 > this.#byPlace.length) this.#growPlaces();
    const table = this.#byPlace;
    const mask = table.length - 1;
    for (let entry = first; entry < size; entry++) {
      let at = columns[entry * COLUMNS + PLACE]! & mask;
      while (table[at] !== 0 && !nodes.isSamePlace(this.#firstOf[table[at]! - 1]!, entry)) at = (at + 1) & mask;
      if (table[at] === 0) {
        table[at] = this.#firstOf.push(entry);
        // While the path is in the cache of the processor: read for all places at once it takes three times as long.
        this.#prefixOf.push(nodes.placePrefix(entry));
        this.#newestOf.push(-1);
      }
      const place = table[at]! - 1;
      this.#placeOf.push(place);
      this.#replacedOf.push(this.#newestOf[place]!);
      this.#newestOf[place] = columns[entry * COLUMNS + LENGTH] === 0 ? -1 : entry;
    }
    if ((this.#hashCount + size - first) * 2 > this.#byHash.length) this.#growHashes(size);
    else this.#insertHashes(first, size);
  }

  /** Removes the nodes of the blocks after `number`. */
  forgetAfter(number: number): void {
    const blocksLeft = this.#blocks.findLastIndex((block) => block.number <= number) + 1;
    const first = this.#blocks[blocksLeft];
    if (first === undefined) return;
    const { size } = this.nodes;
    const isMost = size - first.size > first.size;
    if (!isMost) for (let entry = size - 1; entry >= first.size; entry--) this.#remove(entry);
    this.nodes.truncate(first.size, first.bytes);
    this.#blocks.length = blocksLeft;
    if (isMost) this.#indexAnew();
  }

  find(_owner: Uint8Array, _path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const mask = this.#byHash.length - 1;
    const first = hash[0]! | (hash[1]! << 8) | (hash[2]! << 16) | (hash[3]! << 24);
    for (let at = first & mask; this.#byHash[at] !== 0; at = (at + 1) & mask) {
      const entry = this.#byHash[at]! - 1;
      if (this.nodes.hasHash(entry, hash)) return this.nodes.rlp(entry);
    }
    return undefined;
  }

  node(place: number): WaitingNode {
    const { nodes } = this;
    const entry = this.#firstOf[place]!;
    const newest = this.#newestOf[place]!;
    return {
      owner: nodes.owner(entry),
      path: nodes.path(entry),
      newest: newest < 0 ? undefined : { hash: nodes.hash(newest), rlp: nodes.rlp(newest) },
    };
  }

  sortedPlaces(): Uint32Array {
    return byPrefix(this.places, (place) => this.#prefixOf[place]!);
  }

  /** Removes the last entry. */
  #remove(entry: number): void {
    const place = this.#placeOf.pop()!;
    this.#newestOf[place] = this.#replacedOf.pop()!;
    if (!this.nodes.isReplaced(entry)) {
      clear(this.#byHash, this.nodes.columns[entry * COLUMNS + HASH_WORD]!, entry + 1);
      this.#hashCount--;
    }
    if (this.#firstOf[place] !== entry) return;
    clear(this.#byPlace, this.nodes.columns[entry * COLUMNS + PLACE]!, place + 1);
    this.#firstOf.pop();
    this.#prefixOf.pop();
    this.#newestOf.pop();
  }

  /** Makes both tables anew: where most entries were removed, in less time than it takes to find those. */
  #indexAnew(): void {
    for (const list of [this.#firstOf, this.#prefixOf, this.#newestOf, this.#placeOf, this.#replacedOf])
      list.length = 0;
    this.#byPlace.fill(0);
    this.#byHash.fill(0);
    this.#hashCount = 0;
    this.#index(0);
  }

  #growPlaces(): void {
    this.#byPlace = new Int32Array(this.#byPlace.length * 2);
    const mask = this.#byPlace.length - 1;
    const { columns } = this.nodes;
    for (const [place, entry] of this.#firstOf.entries()) {
      let at = columns[entry * COLUMNS + PLACE]! & mask;
      while (this.#byPlace[at] !== 0) at = (at + 1) & mask;
      this.#byPlace[at] = place + 1;
    }
  }

  /** Makes a larger table of hashes for the nodes before entry `end`. */
  #growHashes(end: number): void {
    this.#byHash = new Int32Array(2 ** Math.ceil(Math.log2(end * 4)));
    this.#hashCount = 0;
    this.#insertHashes(0, end);
  }

  /** Puts the nodes among the entries from `first` to `end` into the table of hashes, which has room for them. */
  #insertHashes(first: number, end: number): void {
    const { columns } = this.nodes;
    const table = this.#byHash;
    const mask = table.length - 1;
    for (let entry = first; entry < end; entry++) {
      if (columns[entry * COLUMNS + LENGTH] === 0) continue;
      let at = columns[entry * COLUMNS + HASH_WORD]! & mask;
      while (table[at] !== 0) at = (at + 1) & mask;
      table[at] = entry + 1;
      this.#hashCount++;
    }
  }
}

/** Empties the position of an open-addressed table that holds `value`, the last one that was inserted. */
function clear(table: Int32Array, word: number, value: number): void {
  const mask = table.length - 1;
  let at = word & mask;
  while (table[at] !== value) at = (at + 1) & mask;
  table[at] = 0;
}

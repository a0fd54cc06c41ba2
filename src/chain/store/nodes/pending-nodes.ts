import { byPrefix } from "../../../storage/row-order.ts";
import { NodeBatch } from "../../../trie/node-batch.ts";

const TABLE_MIN = 1_024;

/**
 * The trie nodes of blocks that no merge has written: all of them by hash, and for each place the newest one. Held as `NodeBatch` holds
 * them, without an object a node.
 */
export class PendingNodes {
  readonly nodes = new NodeBatch();
  /** Open-addressed: entry + 1 by hash, place + 1 by place. */
  #byHash = new Int32Array(TABLE_MIN);
  #byPlace = new Int32Array(TABLE_MIN);
  #hashCount = 0;
  /** By place: an entry that is there; the newest node or −1. */
  readonly #anyOf: number[] = [];
  readonly #newestOf: number[] = [];

  /** Places that a node was added to or replaced at. */
  get places(): number {
    return this.#anyOf.length;
  }

  add(batch: NodeBatch): void {
    const first = this.nodes.size;
    this.nodes.append(batch);
    for (let entry = first; entry < this.nodes.size; entry++) {
      const place = this.#placeOf(entry);
      if (this.nodes.isReplaced(entry)) {
        this.#newestOf[place] = -1;
      } else {
        this.#newestOf[place] = entry;
        this.#indexHash(entry);
      }
    }
  }

  /** RLP of the node with `hash`, a view. */
  find(hash: Uint8Array): Uint8Array | undefined {
    const mask = this.#byHash.length - 1;
    const first = hash[0]! | (hash[1]! << 8) | (hash[2]! << 16) | (hash[3]! << 24);
    for (let at = first & mask; this.#byHash[at] !== 0; at = (at + 1) & mask) {
      const entry = this.#byHash[at]! - 1;
      if (this.nodes.hasHash(entry, hash)) return this.nodes.rlp(entry);
    }
    return undefined;
  }

  /** The newest node at `place`, an entry of `nodes`; −1 where there is none. */
  newest(place: number): number {
    return this.#newestOf[place]!;
  }

  /** An entry of `nodes` at `place`. */
  entry(place: number): number {
    return this.#anyOf[place]!;
  }

  /** Places in the order of their rows, as far as the first nibbles say: rows near each other are written one after the other. */
  sortedPlaces(): Float64Array {
    return byPrefix(this.places, (place) => this.nodes.placePrefix(this.#anyOf[place]!));
  }

  /** Number of the place of `entry`, a new one if need be. */
  #placeOf(entry: number): number {
    if (this.#anyOf.length * 2 >= this.#byPlace.length) this.#growPlaces();
    const mask = this.#byPlace.length - 1;
    let at = this.nodes.placeWord(entry) & mask;
    for (; this.#byPlace[at] !== 0; at = (at + 1) & mask) {
      const place = this.#byPlace[at]! - 1;
      if (this.nodes.isSamePlace(this.#anyOf[place]!, entry)) return place;
    }
    const place = this.#anyOf.length;
    this.#byPlace[at] = place + 1;
    this.#anyOf.push(entry);
    this.#newestOf.push(-1);
    return place;
  }

  #growPlaces(): void {
    this.#byPlace = new Int32Array(this.#byPlace.length * 2);
    const mask = this.#byPlace.length - 1;
    for (const [place, entry] of this.#anyOf.entries()) {
      let at = this.nodes.placeWord(entry) & mask;
      while (this.#byPlace[at] !== 0) at = (at + 1) & mask;
      this.#byPlace[at] = place + 1;
    }
  }

  #indexHash(entry: number): void {
    if (this.#hashCount * 2 >= this.#byHash.length) {
      const old = this.#byHash;
      this.#byHash = new Int32Array(old.length * 2);
      for (const known of old) if (known !== 0) this.#insertHash(known - 1);
    }
    this.#insertHash(entry);
    this.#hashCount++;
  }

  #insertHash(entry: number): void {
    const mask = this.#byHash.length - 1;
    let at = this.nodes.hashWord(entry) & mask;
    while (this.#byHash[at] !== 0) at = (at + 1) & mask;
    this.#byHash[at] = entry + 1;
  }
}

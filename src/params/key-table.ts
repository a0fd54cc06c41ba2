import { keyHash } from "../primitives/key-hash.ts";

/** Of the places in a table a half is used at most, so that a search ends soon. */
const PLACES_A_KEY = 2;

/** Finds keys by their bytes. */
export class KeyTable {
  readonly #rows: Uint8Array;
  readonly #rowLength: number;
  readonly #keyLength: number;
  /** Number of a row plus 1; 0 where there is none. */
  readonly #places: Int32Array;
  /** No key is there twice. */
  readonly isUnique: boolean;

  /**
   * @param rows of `rowLength` bytes each; a row begins with its key
   */
  constructor(rows: Uint8Array, rowLength: number, keyLength: number, count: number) {
    this.#rows = rows;
    this.#rowLength = rowLength;
    this.#keyLength = keyLength;
    let size = PLACES_A_KEY;
    while (size < count * PLACES_A_KEY) size *= 2;
    this.#places = new Int32Array(size);
    let isUnique = true;
    for (let index = 0; index < count; index++) {
      const place = this.#placeOf(rows, index * rowLength);
      if (this.#places[place] === 0) this.#places[place] = index + 1;
      else isUnique = false;
    }
    this.isUnique = isUnique;
  }

  /** Number of the row with this key; -1 where there is none. */
  find(key: Uint8Array): number {
    return this.#places[this.#placeOf(key, 0)]! - 1;
  }

  /** The place of the key at `offset` of `bytes`, or the free one for it. */
  #placeOf(bytes: Uint8Array, offset: number): number {
    const places = this.#places;
    const mask = places.length - 1;
    let place = keyHash(bytes, offset, this.#keyLength) & mask;
    while (places[place] !== 0 && !this.#isKey(places[place]! - 1, bytes, offset)) place = (place + 1) & mask;
    return place;
  }

  #isKey(index: number, bytes: Uint8Array, offset: number): boolean {
    const start = index * this.#rowLength;
    for (let i = 0; i < this.#keyLength; i++) if (this.#rows[start + i] !== bytes[offset + i]) return false;
    return true;
  }
}

import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { keccakMessage } from "../../base/primitives/keccak.ts";
import { isLeafPath, isLeafPathOf, nibblesOf } from "./nibbles.ts";
import { BRANCH_ITEMS, HASH_ITEM, HASH_LENGTH, readItems, stringContent } from "./node.ts";
import type { NodeBatch } from "./node-batch.ts";
import type { NodeCache } from "./node-cache.ts";
import { leafPayloadLength, writeLeaf } from "./node-encoder.ts";
import type { NodeSource } from "./node-store.ts";
import { REPORTED_DEPTH } from "./subtrie.ts";
import type { TrieChanges } from "./trie-update.ts";

/** An update of more keys shares enough of its way to gain from hashing two nodes at a time. */
export const FEW_KEYS_MAX = 8;

const NOTHING = 0x80;
/** A shorter node has no hash, and a longer one no room where nodes are hashed. */
const PAYLOAD_MIN = HASH_LENGTH - 1;
const PAYLOAD_MAX = keccakMessage.length - 9;

/** Instead of the number of its key: a leaf that no key has claimed, and one that only moved below a new branch. */
const UNCLAIMED = -1;
const MOVED = -2;

/** A place between the root and a changed leaf, that leaf included. Each place is hashed after those below it. */
type Place = {
  readonly parent: Place | undefined;
  readonly depth: number;
  /** Nibbles of a key below the place. */
  readonly path: Uint8Array;
  /** Before the change, a view; empty if there was no node, or a leaf that moves down. */
  rlp: Uint8Array;
  /** Where the items of `rlp` begin. */
  readonly items: Int32Array;
  /** Of a branch, the children that change. */
  children: (Place | undefined)[] | undefined;
  /** Number of the key of a leaf. */
  index: number;
  key: Uint8Array;
  /** New value of a leaf, and its `leafPayloadLength`. */
  value: Uint8Array;
  payload: number;
  /** After the change, a view. */
  hash: Uint8Array;
};

export type FewKeysModules = {
  /** As in TrieNodeReader. */
  readonly owner: Uint8Array;
  readonly source: NodeSource;
  readonly cache: NodeCache;
  readonly batch: NodeBatch;
};

/**
 * Root of the trie `root` after `changes` to a few leaves below branches, which is nearly all that a small block does. Every node goes
 * to the batch and the cache at once.
 * @param values receives what `changes.valueOf` returned
 * @returns undefined if the trie changes in any other way: nothing was added to the batch then
 * @throws MissingTrieNodeError
 */
export function updateFewKeys(
  root: Uint8Array,
  changes: TrieChanges,
  values: (Uint8Array | undefined)[],
  modules: FewKeysModules,
): Uint8Array | undefined {
  const places = placesOf(root, changes.keys, modules);
  if (places === undefined) return undefined;
  for (const place of places) {
    if (place.index >= 0) {
      const old = place.rlp.length === 0 ? undefined : stringContent(place.rlp, place.items[1]!, place.rlp.length);
      values[place.index] = changes.valueOf(place.index, old);
    }
  }
  for (const place of places) {
    if (place.children !== undefined) continue;
    if (place.index >= 0) {
      const value = values[place.index];
      if (value === undefined || value.length === 0) return undefined;
      place.value = value;
    }
    place.payload = leafPayloadLength(place.key, place.depth, place.value);
    if (place.payload < PAYLOAD_MIN || place.payload > PAYLOAD_MAX) return undefined;
  }
  return writePlaces(root, places, modules);
}

/** The places that change, each after its parent; undefined if one is neither a branch that stays nor a leaf. */
function placesOf(
  root: Uint8Array,
  keys: readonly Uint8Array[],
  { source, cache }: FewKeysModules,
): Place[] | undefined {
  const places: Place[] = [];
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    const path = nibblesOf(key);
    let place = places[0];
    if (place === undefined) {
      const rlp = cache.take(root, 0) ?? source.read(root, path, 0);
      place = addPlace(places, undefined, 0, path, rlp);
      if (place?.children === undefined) return undefined;
    }
    while (place.children !== undefined) {
      const above: Place = place;
      const { depth, rlp, items } = above;
      if (depth === path.length) return undefined;
      const nibble = path[depth]!;
      let child = above.children![nibble];
      if (child === undefined) {
        const at = items[nibble]!;
        let childRlp = EMPTY_BYTES;
        if (rlp.length > 0 && rlp[at] !== NOTHING) {
          if (rlp[at] !== HASH_ITEM) return undefined;
          childRlp =
            cache.take(rlp, at + 1) ?? source.read(rlp.subarray(at + 1, at + 1 + HASH_LENGTH), path, depth + 1);
        }
        child = addPlace(places, above, depth + 1, path, childRlp);
        if (child === undefined) return undefined;
      }
      place = child;
    }
    if (place.index !== UNCLAIMED) return undefined;
    let leaf = place;
    const { depth, rlp, items } = place;
    if (rlp.length > 0 && !isLeafPathOf(key, depth, rlp, items[0]!, items[1]!)) {
      if (!moveLeaf(place, key, places)) return undefined;
      leaf = addPlace(places, place, depth + 1, path, EMPTY_BYTES)!;
    }
    leaf.index = index;
    leaf.key = key;
  }
  return places;
}

/** Adds the place below `parent` with the node `rlp`; undefined if that is a branch with a value. */
function addPlace(
  places: Place[],
  parent: Place | undefined,
  depth: number,
  path: Uint8Array,
  rlp: Uint8Array,
): Place | undefined {
  const items = new Int32Array(BRANCH_ITEMS + 1);
  const isBranch = rlp.length > 0 && readItems(rlp, items) === BRANCH_ITEMS;
  if (isBranch && rlp[items[BRANCH_ITEMS - 1]!] !== NOTHING) return undefined;
  const place: Place = {
    parent,
    depth,
    path,
    rlp,
    items,
    children: isBranch ? new Array(16) : undefined,
    index: UNCLAIMED,
    key: EMPTY_BYTES,
    value: EMPTY_BYTES,
    payload: 0,
    hash: EMPTY_BYTES,
  };
  places.push(place);
  if (parent !== undefined) parent.children![path[depth - 1]!] = place;
  return place;
}

/**
 * Turns the leaf at `place`, whose key leaves that of `key` at the next nibble, into a branch with that leaf below it.
 * False for any other node.
 */
function moveLeaf(place: Place, key: Uint8Array, places: Place[]): boolean {
  const { depth, rlp, items } = place;
  const packed = stringContent(rlp, items[0]!, items[1]!);
  const first = (depth + 1) >> 1;
  if (packed.length !== 1 + key.length - first || !isLeafPath(packed)) return false;
  const moved = key.slice();
  moved.set(packed.subarray(1), first);
  if (depth % 2 === 1) moved[depth >> 1] = (moved[depth >> 1]! & 0xf0) | (packed[0]! & 15);
  const path = nibblesOf(moved);
  if (path[depth] === place.path[depth]) return false;
  place.children = new Array(16);
  const leaf = addPlace(places, place, depth + 1, path, EMPTY_BYTES)!;
  leaf.index = MOVED;
  leaf.key = moved;
  leaf.value = stringContent(rlp, items[1]!, rlp.length);
  place.rlp = EMPTY_BYTES;
  return true;
}

/** Adds the nodes of `places` to the batch, children first; the hash of the root. */
function writePlaces(root: Uint8Array, places: readonly Place[], { owner, batch, cache }: FewKeysModules): Uint8Array {
  for (const { parent, depth, path } of places) {
    if (depth > REPORTED_DEPTH) continue;
    if (parent === undefined) batch.note(owner, path, 0, root);
    else if (parent.rlp.length > 0) {
      const at = parent.items[path[depth - 1]!]!;
      if (parent.rlp[at] === HASH_ITEM) batch.note(owner, path, depth, parent.rlp, at + 1);
    }
  }
  for (let i = places.length - 1; i >= 0; i--) {
    const place = places[i]!;
    const { depth, path } = place;
    const length =
      place.children === undefined
        ? writeLeaf(place.key, depth, place.value, place.payload, keccakMessage, 0)
        : writeBranch(place, place.children);
    place.hash = batch.add(owner, path, depth, keccakMessage, length, cache);
  }
  return places[0]!.hash;
}

/** Writes the branch with the hashes of its children to `keccakMessage`; its length. */
function writeBranch({ rlp, items }: Place, children: readonly (Place | undefined)[]): number {
  let payload = 1;
  for (let nibble = 0; nibble < 16; nibble++) {
    if (children[nibble] !== undefined) payload += 1 + HASH_LENGTH;
    else payload += rlp.length === 0 ? 1 : items[nibble + 1]! - items[nibble]!;
  }
  let at = 0;
  if (payload < 56) keccakMessage[at++] = 0xc0 + payload;
  else if (payload < 256) {
    keccakMessage[at++] = 0xf8;
    keccakMessage[at++] = payload;
  } else {
    keccakMessage[at++] = 0xf9;
    keccakMessage[at++] = payload >> 8;
    keccakMessage[at++] = payload & 255;
  }
  for (let nibble = 0; nibble < 16; ) {
    const child = children[nibble];
    if (child !== undefined) {
      keccakMessage[at++] = HASH_ITEM;
      keccakMessage.set(child.hash, at);
      at += HASH_LENGTH;
      nibble++;
    } else if (rlp.length === 0) {
      keccakMessage[at++] = NOTHING;
      nibble++;
    } else {
      const start = items[nibble]!;
      while (nibble < 16 && children[nibble] === undefined) nibble++;
      keccakMessage.set(rlp.subarray(start, items[nibble]!), at);
      at += items[nibble]! - start;
    }
  }
  keccakMessage[at++] = NOTHING;
  return at;
}

import { bigintToBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../base/primitives/hash.ts";
import { keccak256, keccak256Hash, keccak256Message, keccakMessage } from "../../base/primitives/keccak.ts";
import { encodeRlp, rlpListLength, writeRlpListPrefix } from "../../base/primitives/rlp.ts";
import { allocateShared } from "../../base/primitives/slab.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { updateTrie } from "./in-place-update.ts";
import { nibbleAt, nibblesOf } from "./nibbles.ts";
import { HASH_LENGTH } from "./node.ts";
import { encodeLeaf, encodeShortNode, leafPayloadLength, writeLeaf } from "./node-encoder.ts";
import type { NodeSink } from "./subtrie.ts";
import { type EntrySink, UNHASHED_LENGTH_MAX, type UnhashedNodes, withUnhashedNodes } from "./unhashed-nodes.ts";

/** Hashes nodes and forgets them. */
export const HASH_ONLY: NodeSink = {
  add(_path, _depth, rlp, length) {
    if (rlp !== keccakMessage) return keccak256(rlp.subarray(0, length));
    const hash = allocateShared(HASH_LENGTH);
    keccak256Message(length, hash, 0);
    return hash;
  },
  addHashed() {},
  replace() {},
};

/** RLP of index 0. */
const FIRST_KEY = Uint8Array.of(0x80);

/**
 * Root of the trie that maps RLP(index) to `values[index]`: transactionsRoot, receiptsRoot, withdrawalsRoot
 * (Yellow Paper 4.3.2, EIP-4895). None of the values is empty; no node is stored.
 */
export function orderedTrieRoot(values: readonly Uint8Array[]): Hash {
  if (values.length === 0) return EMPTY_TRIE_ROOT;
  if (values.length === 1) {
    const { bytes, length } = encodeLeaf(FIRST_KEY, 0, values[0]!);
    return keccak256Hash(bytes.subarray(0, length));
  }
  const hasHashes = values.every(({ length }) => length >= HASH_LENGTH);
  if (hasHashes) {
    const root = withUnhashedNodes((nodes) => new IndexTrie(values, nodes).root());
    return hashFromBytes(root);
  }
  const keys = values.map((_, index) => encodeRlp(bigintToBytes(BigInt(index))));
  const changes = { keys, valueOf: (index: number) => values[index] };
  return hashFromBytes(updateTrie(EMPTY_TRIE_ROOT_BYTES, { source: undefined, changes, sink: HASH_ONLY }));
}

const CHILDREN = 16;
/** Nibbles of the longest key: RLP of an index below 2^32. */
const KEY_NIBBLES_MAX = 10;
/** Indices below it are their own RLP, but for 0, which is 0x80. */
const SINGLE_BYTE_END = 0x80;
/** First byte of a reference by hash: a string of 32 bytes. */
const HASH_PREFIX = 0x80 + HASH_LENGTH;
const EMPTY_ITEM = 0x80;

/** Nodes are added without their paths, which only a store needs. */
const NO_PATH = new Uint8Array(KEY_NIBBLES_MAX);
const UNKNOWN_HASH = new Uint8Array(HASH_LENGTH);
const NO_SINK: EntrySink = () => {};
/** Stands for a missing child of a branch. */
const NO_CHILD = -0x8000_0000;

/**
 * The trie that maps RLP(index) to values of at least 32 bytes, so that every node is referred to by its hash. It is built from its
 * leaves, and nodes of one depth are hashed two at a time.
 *
 * A node is named by its number in `UnhashedNodes`, or, once its hash is known, by −1 − its position in `#hashes`.
 */
class IndexTrie {
  readonly #nodes: UnhashedNodes;
  readonly #first: number;
  /** In ascending order. */
  readonly #keys: readonly Uint8Array[];
  readonly #values: readonly Uint8Array[];
  readonly #hashes: Uint8Array[] = [];
  /** By depth, the children so far of the branch that is open there. */
  readonly #open: Int32Array[] = [];

  constructor(values: readonly Uint8Array[], nodes: UnhashedNodes) {
    const order = ascendingIndices(values.length);
    this.#nodes = nodes;
    this.#first = nodes.count;
    this.#keys = order.map(indexKey);
    this.#values = order.map((index) => values[index]!);
  }

  root(): Uint8Array {
    const root = this.#subtrie(0, this.#keys.length, 0);
    return root < 0 ? this.#hashes[~root]! : this.#hashAll(root);
  }

  /** Of the keys from number `from` to `to`, which share their first `depth` nibbles. */
  #subtrie(from: number, to: number, depth: number): number {
    const key = this.#keys[from]!;
    if (to - from === 1) return this.#leaf(key, this.#values[from]!, depth);
    const last = this.#keys[to - 1]!;
    let branchDepth = depth;
    while (nibbleAt(key, branchDepth) === nibbleAt(last, branchDepth)) branchDepth++;
    const branch = this.#branch(from, to, branchDepth);
    return branchDepth === depth ? branch : this.#extension(key, depth, branchDepth, branch);
  }

  #leaf(key: Uint8Array, value: Uint8Array, depth: number): number {
    const payload = leafPayloadLength(key, depth, value);
    const length = rlpListLength(payload);
    if (length > UNHASHED_LENGTH_MAX) {
      const { bytes, length } = encodeLeaf(key, depth, value);
      return ~(this.#hashes.push(keccak256(bytes.subarray(0, length))) - 1);
    }
    if (this.#nodes.isFull) this.#hashOpen();
    const leaf = this.#nodes.count;
    const start = this.#nodes.add(NO_PATH, depth, length);
    writeLeaf(key, depth, value, payload, this.#nodes.bytes, start);
    return leaf;
  }

  #branch(from: number, to: number, depth: number): number {
    while (this.#open.length <= depth) this.#open.push(new Int32Array(CHILDREN).fill(NO_CHILD));
    const children = this.#open[depth]!;
    let count = 0;
    for (let start = from, end = from; start < to; start = end) {
      const nibble = nibbleAt(this.#keys[start]!, depth);
      do end++;
      while (end < to && nibbleAt(this.#keys[end]!, depth) === nibble);
      children[nibble] = this.#subtrie(start, end, depth + 1);
      count++;
    }
    const payload = CHILDREN + 1 + count * HASH_LENGTH;
    const branch = this.#nodes.count;
    const start = this.#nodes.add(NO_PATH, depth, rlpListLength(payload));
    const { bytes } = this.#nodes;
    let at = writeRlpListPrefix(payload, bytes, start);
    for (let nibble = 0; nibble < CHILDREN; nibble++) {
      const child = children[nibble]!;
      if (child === NO_CHILD) bytes[at++] = EMPTY_ITEM;
      else {
        bytes[at++] = HASH_PREFIX;
        this.#refer(child, at);
        at += HASH_LENGTH;
      }
    }
    bytes[at] = EMPTY_ITEM;
    children.fill(NO_CHILD);
    return branch;
  }

  /** The extension from `depth` to the branch at `branchDepth` on the way to `key`. */
  #extension(key: Uint8Array, depth: number, branchDepth: number, branch: number): number {
    const path = nibblesOf(key, depth).subarray(0, branchDepth - depth);
    const encoded = encodeShortNode({ kind: "extension", path, payload: UNKNOWN_HASH });
    const extension = this.#nodes.count;
    const start = this.#nodes.add(NO_PATH, depth, encoded.length);
    this.#nodes.bytes.set(encoded.bytes.subarray(0, encoded.length), start);
    this.#refer(branch, start + encoded.length - HASH_LENGTH);
    return extension;
  }

  /** Writes the hash of `node` at `at`, now or once it is computed. */
  #refer(node: number, at: number): void {
    if (node >= 0) this.#nodes.refer(node, at);
    else this.#nodes.bytes.set(this.#hashes[~node]!, at);
  }

  /** Hashes all nodes; the hash of `root`. */
  #hashAll(root: number): Uint8Array {
    this.#nodes.hash(this.#first, NO_SINK);
    return this.#hashOf(root);
  }

  /** Hashes all nodes and gives the open branches the hashes of their children. */
  #hashOpen(): void {
    this.#nodes.hash(this.#first, NO_SINK);
    for (const children of this.#open) {
      for (let nibble = 0; nibble < CHILDREN; nibble++) {
        const child = children[nibble]!;
        if (child >= 0) children[nibble] = ~(this.#hashes.push(this.#hashOf(child)) - 1);
      }
    }
  }

  /** A copy of the hash that was just computed. */
  #hashOf(node: number): Uint8Array {
    const start = this.#nodes.hashStart(node);
    return this.#nodes.bytes.slice(start, start + HASH_LENGTH);
  }
}

/** The indices below `count`, at least one, in the order of their RLP. */
function ascendingIndices(count: number): readonly number[] {
  const order: number[] = [];
  for (let index = 1; index < Math.min(count, SINGLE_BYTE_END); index++) order.push(index);
  order.push(0);
  for (let index = SINGLE_BYTE_END; index < count; index++) order.push(index);
  return order;
}

/** RLP of `index`. */
function indexKey(index: number): Uint8Array {
  let length = 0;
  for (let rest = index; rest > 0; rest = Math.floor(rest / 256)) length++;
  const isOneByte = index > 0 && index < SINGLE_BYTE_END;
  const key = new Uint8Array(isOneByte ? 1 : 1 + length);
  if (!isOneByte) key[0] = EMPTY_ITEM + length;
  for (let rest = index, at = key.length - 1; rest > 0; rest = Math.floor(rest / 256)) {
    key[at--] = rest;
  }
  return key;
}

import { invariant } from "../../base/errors.ts";
import { RATE } from "../../base/primitives/keccak-emitter.ts";
import {
  createKeccakPairModule,
  type HashPair,
  PAIR_MESSAGES_OFFSET,
  PAIR_READ_AHEAD,
} from "../../base/primitives/keccak-pair-wasm.ts";
import { HASH_LENGTH } from "./node.ts";

/** Longest node that waits here; a branch of hashes has 532 bytes. Longer ones, with long values, are hashed one by one. */
export const UNHASHED_LENGTH_MAX = 1_024;
/** When so many bytes wait they are hashed: some 8,000 nodes, which stay in the caches of a processor. */
const FULL_BYTES = 2 << 20;
/** Beyond FULL_BYTES: the leaves and the branch that were being closed. */
const PAGES = (FULL_BYTES >> 16) + 2;
const NODES_MAX = FULL_BYTES / (HASH_LENGTH * 2) + 64;
/** So few nodes are hashed as they come. */
const UNSORTED_MAX = 32;
const DEPTH_MAX = 128;
const SIZES = Math.floor(UNHASHED_LENGTH_MAX / RATE) + 1;

/** A node as it lies in memory: path (a nibble a byte) ‖ hash 32 ‖ RLP. */
export type EntrySink = (bytes: Uint8Array, pathStart: number, depth: number, length: number, isLeaf: boolean) => void;

/**
 * New nodes whose hashes are not computed yet, in the memory where they are hashed. A child is added before its parent, which gets
 * the hash written to where it refers to the child. So nodes of one depth can be hashed together, two at a time.
 *
 * Updates nest (a storage trie within the account trie): each removes its own nodes before the other goes on.
 */
export class UnhashedNodes {
  /** Empty before the first node. */
  bytes = new Uint8Array(0);
  #hashPair: HashPair | undefined;
  /** By node: its depth, where its RLP begins, how long that is, and where its parent refers to it. */
  readonly #depths = new Uint8Array(NODES_MAX);
  readonly #starts = new Int32Array(NODES_MAX);
  readonly #lengths = new Int32Array(NODES_MAX);
  readonly #references = new Int32Array(NODES_MAX);
  readonly #areLeaves = new Uint8Array(NODES_MAX);
  readonly #order = new Int32Array(NODES_MAX);
  readonly #groups = new Int32Array((DEPTH_MAX + 1) * SIZES + 1);
  #count = 0;
  #used = PAIR_MESSAGES_OFFSET;

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#used >= FULL_BYTES || this.#count >= NODES_MAX - 64;
  }

  /** Adds a node at the first `depth` nibbles of `path`. Returns where its `length` bytes have to be written. */
  add(path: Uint8Array, depth: number, length: number, isLeaf = false): number {
    if (this.#hashPair === undefined) this.#compile();
    let at = this.#used;
    const end = at + depth + HASH_LENGTH + length;
    invariant(end + PAIR_READ_AHEAD <= this.bytes.length, "unhashed nodes must be hashed in time");
    for (let i = 0; i < depth; i++) this.bytes[at++] = path[i]!;
    const node = this.#count++;
    this.#depths[node] = depth;
    this.#starts[node] = at + HASH_LENGTH;
    this.#lengths[node] = length;
    this.#references[node] = at;
    this.#areLeaves[node] = isLeaf ? 1 : 0;
    this.#used = end;
    return at + HASH_LENGTH;
  }

  /** The hash of `node` is to be written at `at`, where its parent refers to it. */
  refer(node: number, at: number): void {
    this.#references[node] = at;
  }

  /** Where the hash of `node` is once it is computed, until the next `add`. */
  hashStart(node: number): number {
    return this.#starts[node]! - HASH_LENGTH;
  }

  /** Hashes the nodes from number `first` on, which are all subtries of nodes from there on, and hands them to `sink` in their order. */
  hash(first: number, sink: EntrySink): void {
    const end = this.#count;
    if (first === end) return;
    this.#sort(first, end);
    const count = end - first;
    for (let i = 0; i < count; ) {
      const a = this.#order[i]!;
      const b = i + 1 < count ? this.#order[i + 1]! : a;
      const isPair = this.#group(a) === this.#group(b);
      this.#hashBoth(a, isPair ? b : a);
      i += isPair && a !== b ? 2 : 1;
    }
    for (let node = first; node < end; node++) {
      const depth = this.#depths[node]!;
      const start = this.#starts[node]! - HASH_LENGTH - depth;
      sink(this.bytes, start, depth, this.#lengths[node]!, this.#areLeaves[node] === 1);
    }
    this.truncate(first);
  }

  /** Forgets the nodes from number `first` on. */
  truncate(first: number): void {
    if (first >= this.#count) return;
    this.#used = this.#starts[first]! - HASH_LENGTH - this.#depths[first]!;
    this.#count = first;
  }

  /** Takes some milliseconds, which a program without updates need not spend. */
  #compile(): void {
    const { bytes, hashPair } = createKeccakPairModule(PAGES);
    this.bytes = bytes;
    this.#hashPair = hashPair;
  }

  #hashBoth(a: number, b: number): void {
    this.#hashPair!(
      this.#starts[a]!,
      this.#lengths[a]!,
      this.#references[a]!,
      this.#starts[b]!,
      this.#lengths[b]!,
      this.#references[b]!,
    );
  }

  /** Nodes of one group are hashed two at a time: they have one depth, and the same number of blocks. Deeper ones come first. */
  #group(node: number): number {
    const blocks = (this.#lengths[node]! / RATE) | 0;
    return (DEPTH_MAX - this.#depths[node]!) * SIZES + blocks;
  }

  #sort(first: number, end: number): void {
    const order = this.#order;
    if (end - first <= UNSORTED_MAX) {
      for (let node = first; node < end; node++) order[node - first] = node;
      return;
    }
    const groups = this.#groups.fill(0);
    for (let node = first; node < end; node++) groups[this.#group(node) + 1]!++;
    for (let group = 1; group < groups.length; group++) groups[group]! += groups[group - 1]!;
    for (let node = first; node < end; node++) order[groups[this.#group(node)]!++] = node;
  }
}

/** Shared by all updates of a thread, since the hashing module has their memory compiled in. Empty between updates. */
const nodesOfThread = new UnhashedNodes();

/** Calls `use` with this thread's unhashed nodes, and drops those that it adds and leaves unhashed. */
export function withUnhashedNodes<Result>(use: (nodes: UnhashedNodes) => Result): Result {
  const first = nodesOfThread.count;
  try {
    return use(nodesOfThread);
  } finally {
    nodesOfThread.truncate(first);
  }
}

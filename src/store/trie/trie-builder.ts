import { equalBytes } from "../../base/primitives/bytes.ts";
import { Views } from "../../base/primitives/views.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { childReference, decodeNode, HASH_LENGTH } from "./node.ts";
import { encodeBranch, encodeLeaf, encodeShortNode } from "./node-encoder.ts";
import type { ResolveNode } from "./proof.ts";
import { type NodeSink, NodeWriter } from "./subtrie.ts";

/** Bytes of every key: a keccak256. */
export const TRIE_KEY_LENGTH = 32;
const NIBBLES = TRIE_KEY_LENGTH * 2;
const CHILDREN = 16;
/** An account, or the value of a slot; longer ones are copied too. */
const VALUE_LENGTH_MAX = 128;

/** A branch that the last key is below, without the child on the way to that key. */
type OpenBranch = {
  depth: number;
  /** Those of the children with a bit in `changed`; others are of a branch before. */
  readonly references: (Uint8Array | undefined)[];
  changed: number;
  /** For references that are hashes. */
  readonly hashes: (Uint8Array | undefined)[];
};

/**
 * Computes the root of a trie from its leaves, which come in ascending order of their keys. Nodes go to `sink` in post-order, children before
 * their parent, which is the order of their rows (trie-node-table.ts). In memory are the branches on the way to the last leaf alone.
 */
export class TrieBuilder {
  /** The nibbles of the last key. */
  readonly #path = new Uint8Array(NIBBLES);
  #writer: NodeWriter;
  readonly #key = new Uint8Array(TRIE_KEY_LENGTH);
  /** The value of the last key; undefined before the first. */
  #value: Uint8Array | undefined;
  readonly #values = new Views(VALUE_LENGTH_MAX);
  /** From the root down. */
  readonly #open: OpenBranch[] = [];
  /** Closed ones, to be opened again. */
  readonly #closed: OpenBranch[] = [];

  /** @param sink may return the same bytes each time, with another hash in them */
  constructor(sink: Pick<NodeSink, "add">) {
    this.#writer = new NodeWriter(this.#path, sink);
  }

  /**
   * Adds the leaf whose key is at `offset` of `keys`; greater than the last one.
   * @param value not empty
   */
  add(keys: Uint8Array, offset: number, value: Uint8Array): void {
    if (this.#value !== undefined) this.#close(this.#sharedNibbles(keys, offset));
    for (let i = 0; i < TRIE_KEY_LENGTH; i++) {
      const byte = keys[offset + i]!;
      this.#key[i] = byte;
      this.#path[2 * i] = byte >> 4;
      this.#path[2 * i + 1] = byte & 15;
    }
    this.#value = this.#values.of(value.length);
    this.#value.set(value);
  }

  /** The root of the trie with these leaves, as the sink returned it. The next leaf begins another trie. */
  finish(): Uint8Array {
    if (this.#value === undefined) return EMPTY_TRIE_ROOT_BYTES;
    const reference = this.#close(-1)!;
    this.#value = undefined;
    return this.#writer.root(reference);
  }

  /** Gives the nodes of the next trie to another sink. */
  restart(sink: Pick<NodeSink, "add">): void {
    this.#writer = new NodeWriter(this.#path, sink);
  }

  /**
   * Whether the trie with `root` begins with these leaves: up to the last of them it has no other.
   * @param resolve gives the nodes on the way to the last leaf @throws what it throws; InvalidRlpError
   */
  isBeginningOf(root: Uint8Array, resolve: ResolveNode): boolean {
    const path = this.#path;
    let next = 0;
    let reference = root;
    for (let depth = 0; ; ) {
      const node = decodeNode(reference.length === HASH_LENGTH ? resolve(reference, path, depth) : reference);
      const open = this.#open[next];
      if (node.kind === "branch") {
        if (depth === NIBBLES) return false;
        const left = open?.depth === depth ? open : undefined;
        if (left !== undefined) next++;
        for (let nibble = 0; nibble < path[depth]!; nibble++) {
          const has = left !== undefined && (left.changed & (1 << nibble)) !== 0;
          const known = has ? left.references[nibble] : undefined;
          if (!isSameReference(known, childReference(node, nibble))) return false;
        }
        const child = childReference(node, path[depth]!);
        if (child === undefined) return false;
        reference = child;
        depth++;
        continue;
      }
      const end = depth + node.path.length;
      if (open !== undefined && open.depth < end) return false;
      if (!equalBytes(path.subarray(depth, end), node.path)) return false;
      if (node.kind === "leaf") {
        return end === NIBBLES && this.#value !== undefined && equalBytes(node.payload, this.#value);
      }
      reference = node.payload;
      depth = end;
    }
  }

  #sharedNibbles(keys: Uint8Array, offset: number): number {
    let byte = 0;
    while (this.#key[byte] === keys[offset + byte]) byte++;
    return 2 * byte + (this.#key[byte]! >> 4 === keys[offset + byte]! >> 4 ? 1 : 0);
  }

  /**
   * Encodes the last leaf and the branches below `depth` nibbles, and puts what is below a branch at `depth` into that one.
   * @param depth -1: the reference of the root is returned
   */
  #close(depth: number): Uint8Array | undefined {
    let parent = this.#parent(depth);
    const start = (parent?.depth ?? -1) + 1;
    let reference = this.#writer.reference(encodeLeaf(this.#key, start, this.#value!), start);
    while (parent !== undefined) {
      const nibble = this.#path[parent.depth]!;
      refer(parent, nibble, reference);
      if (parent.depth === depth) return undefined;
      const branch = this.#open.pop()!;
      parent = this.#parent(depth);
      reference = this.#branch(branch, (parent?.depth ?? -1) + 1);
      this.#closed.push(branch);
    }
    return reference;
  }

  /** The deepest open branch, which is opened at `depth` where all are above. */
  #parent(depth: number): OpenBranch | undefined {
    const deepest = this.#open.at(-1);
    if (depth < 0 || (deepest !== undefined && deepest.depth >= depth)) return deepest;
    const opened = this.#closed.pop() ?? {
      depth,
      references: new Array(CHILDREN),
      changed: 0,
      hashes: new Array(CHILDREN),
    };
    opened.depth = depth;
    opened.changed = 0;
    this.#open.push(opened);
    return opened;
  }

  /** Reference of a branch, or of the extension from `start` to it. */
  #branch({ depth, references, changed }: OpenBranch, start: number): Uint8Array {
    const branch = encodeBranch({ old: undefined, changed, references, value: undefined });
    const payload = this.#writer.reference(branch, depth);
    if (depth === start) return payload;
    const path = this.#path.slice(start, depth);
    return this.#writer.reference(encodeShortNode({ kind: "extension", path, payload }), start);
  }
}

function isSameReference(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}

function refer(branch: OpenBranch, nibble: number, reference: Uint8Array): void {
  branch.changed |= 1 << nibble;
  if (reference.length < HASH_LENGTH) {
    branch.references[nibble] = reference;
    return;
  }
  // The sink may write the next hash to the same place.
  branch.hashes[nibble] ??= new Uint8Array(HASH_LENGTH);
  const hash = branch.hashes[nibble];
  for (let i = 0; i < HASH_LENGTH; i++) hash[i] = reference[i]!;
  branch.references[nibble] = hash;
}

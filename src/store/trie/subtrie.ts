import { invariant } from "../../base/errors.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { keccakMessage } from "../../base/primitives/keccak.ts";
import { copyShared } from "../../base/primitives/slab.ts";
import { ascendingNumbers, groupByNibble, groupEnd, nibbleAt, nibblesOf, sharedNibbles } from "./nibbles.ts";
import { HASH_LENGTH, type ShortNode } from "./node.ts";
import { type EncodedNode, encodeBranch, encodeLeaf, encodeShortNode } from "./node-encoder.ts";
import type { EntrySink } from "./unhashed-nodes.ts";

/** Receives what becomes of each place: the first `depth` nibbles of `path`, which is written to afterwards. */
export type NodeSink = {
  /** A new node, the first `length` bytes of `rlp`, which are overwritten afterwards. Returns its hash. */
  add(path: Uint8Array, depth: number, rlp: Uint8Array, length: number): Uint8Array;
  /** A new node with its hash. */
  readonly addHashed: EntrySink;
  /**
   * The node with `hash` is no longer at its place, unless it is added again later. Below REPORTED_DEPTH it may be left out
   * where another node is added at the same place.
   */
  replace(path: Uint8Array, depth: number, hash: Uint8Array): void;
};

/** Replaced nodes are reported for all paths of up to this many nibbles. */
export const REPORTED_DEPTH = 2;

/**
 * A subtrie whose topmost node, a leaf or an extension, is not encoded yet because its parent may still merge with it.
 * An extension with an empty path stands for the branch it refers to. Branches never merge, so they are encoded at once.
 */
export type Subtrie = ShortNode;

/** The branch that parents refer to by `reference`. */
export function branchSubtrie(reference: Uint8Array): Subtrie {
  return { kind: "extension", path: EMPTY_BYTES, payload: reference };
}

/** `subtrie` below the path `nibbles`. */
export function prefixed(nibbles: Uint8Array, subtrie: Subtrie): Subtrie {
  if (nibbles.length === 0) return subtrie;
  const path = new Uint8Array(nibbles.length + subtrie.path.length);
  path.set(nibbles);
  path.set(subtrie.path, nibbles.length);
  return { kind: subtrie.kind, path, payload: subtrie.payload };
}

/** Gives new nodes to a sink: the node cap function n of the Yellow Paper, appendix D. */
export class NodeWriter {
  /** Nibbles from the root to the node being written, as far as the depth of each call says. */
  readonly path: Uint8Array;
  readonly #sink: Pick<NodeSink, "add">;

  constructor(path: Uint8Array, sink: Pick<NodeSink, "add">) {
    this.path = path;
    this.#sink = sink;
  }

  /** How a parent refers to the node just encoded at `depth`: by its hash, or inline where it is shorter than one. */
  reference({ bytes, length }: EncodedNode, depth: number): Uint8Array {
    if (length < HASH_LENGTH) return copyShared(bytes, 0, length);
    return this.#sink.add(this.path, depth, bytes, length);
  }

  /** The same of `subtrie` at `depth`; encodes it if that is still to be done. */
  subtrie(subtrie: Subtrie, depth: number): Uint8Array {
    if (subtrie.kind === "extension" && subtrie.path.length === 0) return subtrie.payload;
    return this.reference(encodeShortNode(subtrie), depth);
  }

  /** Hash of the root node to which `reference` refers: a root has one however short it is. */
  root(reference: Uint8Array): Uint8Array {
    if (reference.length === HASH_LENGTH) return reference;
    keccakMessage.set(reference);
    return this.#sink.add(this.path, 0, keccakMessage, reference.length);
  }
}

/** A subtrie made of its leaves: the structural composition function c of the Yellow Paper, appendix D. */
export class SubtrieBuilder {
  readonly #keys: readonly Uint8Array[];
  readonly #values: readonly Uint8Array[];
  readonly #writer: NodeWriter;
  /** Numbers of keys, sorted nibble by nibble. */
  readonly #order: Int32Array;

  /** @param keys all different, with the values of the same numbers, which are not empty; the nibbles of `writer.path` are above all of them */
  constructor(keys: readonly Uint8Array[], values: readonly Uint8Array[], writer: NodeWriter) {
    this.#keys = keys;
    this.#values = values;
    this.#writer = writer;
    this.#order = ascendingNumbers(keys.length);
  }

  /** The subtrie at `depth`; undefined without leaves. */
  build(depth: number): Subtrie | undefined {
    return this.#keys.length === 0 ? undefined : this.#subtrie(0, this.#keys.length, depth);
  }

  /** Of the keys `order[from..to)`, at least one. */
  #subtrie(from: number, to: number, depth: number): Subtrie {
    const first = this.#order[from]!;
    if (to - from === 1) {
      const path = nibblesOf(this.#keys[first]!, depth);
      return { kind: "leaf", path, payload: this.#values[first]! };
    }
    const shared = sharedNibbles(this.#keys, this.#order, from, to, depth);
    this.#writer.path.set(shared, depth);
    return prefixed(shared, this.#branch(from, to, depth + shared.length));
  }

  /** Of at least two keys, which differ from `depth` on. */
  #branch(from: number, to: number, depth: number): Subtrie {
    const keys = this.#keys;
    const order = this.#order;
    groupByNibble(keys, order, from, to, depth);
    const references: (Uint8Array | undefined)[] = new Array(16);
    let changed = 0;
    let value: Uint8Array | undefined;
    let start = from;
    if (keys[order[start]!]!.length * 2 === depth) value = this.#values[order[start++]!];
    invariant(keys[order[start]!]!.length * 2 > depth, "keys are all different");
    while (start < to) {
      const nibble = nibbleAt(keys[order[start]!]!, depth);
      const end = groupEnd(keys, order, start, to, depth);
      this.#writer.path[depth] = nibble;
      references[nibble] = this.#childReference(start, end, depth + 1);
      changed |= 1 << nibble;
      start = end;
    }
    const branch = encodeBranch({ old: undefined, changed, references, value });
    return branchSubtrie(this.#writer.reference(branch, depth));
  }

  /** None of the keys goes, so a single leaf is encoded at once. */
  #childReference(from: number, to: number, depth: number): Uint8Array {
    if (to - from > 1) return this.#writer.subtrie(this.#subtrie(from, to, depth), depth);
    const index = this.#order[from]!;
    const leaf = encodeLeaf(this.#keys[index]!, depth, this.#values[index]!);
    return this.#writer.reference(leaf, depth);
  }
}

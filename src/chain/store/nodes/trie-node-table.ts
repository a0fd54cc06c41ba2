import { invariant } from "../../../base/errors.ts";
import { allocateShared, copyShared } from "../../../base/primitives/slab.ts";
import { Views } from "../../../base/primitives/views.ts";
import type { Kv, KvWriter } from "../../../store/storage/kv.ts";
import { numberFromKey, numberKey, TABLE } from "../../../store/storage/schema.ts";
import type { NodeBatch } from "../../../store/trie/node-batch.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import { NewestNodes } from "./newest-nodes.ts";
import { PendingNodes, type WaitingNode, type WaitingNodes } from "./pending-nodes.ts";

/** Ends the nibbles of a path in a node's key: no nibble is 16, so no path's key begins another's. */
const PATH_END = 0x10;
/** So much of its hash names a version of a node. */
const HASH_PART = 16;
/** Number of the merge, then length of the newest version. */
const LENGTH_OFFSET = 6;
const VERSIONS_OFFSET = 8;
/** Number of the first merge of an index. */
const FIRST_MERGE = 1;
const FIRST_MERGE_KEY = numberKey(FIRST_MERGE);
/** Of a node below an owner of 32 bytes, whose path has 64 nibbles. */
const KEY_LENGTH_MAX = 2 + 32 + 64;
/** Of a row with one version; a branch of hashes has 532 bytes. */
const ROW_LENGTH_MAX = VERSIONS_OFFSET + HASH_PART + 532;

/**
 * Trie nodes: in rows, those of the state at the last checkpoint, and in memory those of the blocks since.
 *
 * A block makes nodes all over the key space, a thousand for 200 transfers, twenty for no transaction at all; and most of them, near the
 * roots, last until the next block. So they wait in memory for a merge, which writes the newest node of each place and ends in a
 * checkpoint. A row also has the version before, so at every moment, for every reader and after every crash, the rows hold the
 * whole state of the last checkpoint. Rows are rewritten in place and never removed (ADR 47).
 *
 *     row      number of the merge u48 big-endian ‖ length of the newest version u16 little-endian ‖ newest ‖ version before
 *     version  first 16 bytes of the hash ‖ RLP; no bytes for a removed node
 */
export class TrieNodeTable implements TrieNodeReader {
  readonly #kv: Kv;
  readonly #dropsReplaced: boolean;
  #recent: WaitingNodes;
  #merging: WaitingNodes | undefined;
  /** Places of `#merging` in the order of their rows, set when the first is due; `#written` counts those done. */
  #order: Uint32Array | undefined;
  #written = 0;
  /** Number of the merge under way. */
  #mergeNumber = 0;

  /** @param dropsReplaced of each place only the newest node waits in memory: `forgetAfter` must not be called */
  constructor(kv: Kv, { dropsReplaced = false }: { readonly dropsReplaced?: boolean | undefined } = {}) {
    this.#kv = kv;
    this.#dropsReplaced = dropsReplaced;
    this.#recent = this.#newWaiting();
  }

  #newWaiting(last?: WaitingNodes): WaitingNodes {
    if (this.#dropsReplaced) return new NewestNodes(last instanceof NewestNodes ? last : undefined);
    return new PendingNodes(last instanceof PendingNodes ? last : undefined);
  }

  /** False: `forgetAfter` must not be called. */
  get canForget(): boolean {
    return !this.#dropsReplaced;
  }

  /** Memory of the nodes that no merge has begun with. */
  get recentBytes(): number {
    return this.#recent.bytes;
  }

  /** Places that a merge under way has still to write. */
  get mergingKeys(): number {
    return (this.#merging?.places ?? 0) - this.#written;
  }

  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const pending = this.#recent.find(owner, path, hash) ?? this.#merging?.find(owner, path, hash);
    if (pending !== undefined) return pending;
    const row = this.#kv.view(nodeKey(owner, path));
    if (row === undefined) return undefined;
    const end = newestEnd(row);
    if (isVersion(row, VERSIONS_OFFSET, end, hash)) return rlpAt(row, VERSIONS_OFFSET, end);
    if (isVersion(row, end, row.length, hash)) return rlpAt(row, end, row.length);
    return undefined;
  }

  remember(number: number, batch: NodeBatch): void {
    this.#recent.add(number, batch);
  }

  /** Forgets what waits in memory of blocks after `number`, with which no merge has begun. */
  forgetAfter(number: number): void {
    invariant(this.#recent instanceof PendingNodes, "replaced nodes must be there");
    this.#recent.forgetAfter(number);
  }

  /** Forgets what waits in memory. */
  reset(): void {
    this.#recent = this.#newWaiting();
    this.endMerge();
  }

  /**
   * Turns to merging what was remembered.
   * @param number of this merge, above that of every one that has ended; the same again after a crash in the middle
   */
  beginMerge(number: number): void {
    invariant(this.#merging === undefined, "one merge must end before the next begins");
    this.#merging = this.#recent;
    this.#recent = this.#newWaiting(this.#merging);
    this.#order = undefined;
    this.#written = 0;
    this.#mergeNumber = number;
  }

  /** Writes nodes of up to `keysMax` places, or fewer once `isLate` of the number written is true. Returns that number, 0 at the end. */
  mergeSome(keysMax: number, isLate: (keys: number) => boolean): number {
    const order = this.#sorted();
    const first = this.#written;
    const end = Math.min(first + keysMax, order.length);
    if (first === end) return 0;
    let at = first;
    this.#kv.transaction((writer) => {
      at = first;
      do this.#write(writer, order[at++]!);
      while (at < end && !isLate(at - first));
    });
    this.#written = at;
    return at - first;
  }

  /** Writes all that is left in a transaction that goes on. */
  mergeRest(writer: KvWriter): void {
    for (const place of this.#sorted().subarray(this.#written)) this.#write(writer, place);
  }

  #sorted(): Uint32Array {
    this.#order ??= this.#merging?.sortedPlaces() ?? new Uint32Array(0);
    return this.#order;
  }

  #write(writer: KvWriter, place: number): void {
    const { owner, path, newest } = this.#merging!.node(place);
    const key = nodeKey(owner, path);
    // The first merge finds rows only where an earlier try of it wrote them.
    const stored = this.#mergeNumber === FIRST_MERGE ? undefined : writer.view(key);
    const row = this.#mergedRow(newest, stored);
    if (row !== undefined) writer.put(key, row);
  }

  /** After the transaction that wrote the checkpoint of the merge under way. */
  endMerge(): void {
    this.#merging = undefined;
    this.#order = undefined;
    this.#written = 0;
  }

  /** What to write over `row`; undefined where nothing differs from the last checkpoint. */
  #mergedRow(newest: WaitingNode["newest"], row: Uint8Array | undefined): Uint8Array | undefined {
    // Of a row that a crashed try of this merge has written, the last checkpoint has the version before.
    const isWritten = row !== undefined && numberFromKey(row, 0) === this.#mergeNumber;
    const before = row === undefined ? NO_VERSION : versionsOf(row)[isWritten ? 1 : 0];
    if (newest === undefined)
      return row === undefined ? undefined : joinRow(this.#mergeNumber, NO_VERSION, NO_VERSION, before);
    const { hash, rlp } = newest;
    if (!isWritten && isVersion(before, 0, before.length, hash)) return undefined;
    return joinRow(this.#mergeNumber, hash, rlp, before);
  }
}

/** The row of a node that the first merge writes; the bytes of one are overwritten by the next. */
export class FirstNodeRow {
  readonly #keys = new Views(KEY_LENGTH_MAX);
  readonly #values = new Views(ROW_LENGTH_MAX);

  /** @param depth nibbles of `path` */
  key(owner: Uint8Array, path: Uint8Array, depth: number): Uint8Array {
    return writeNodeKey(owner, path, depth, this.#keys.of(2 + owner.length + depth));
  }

  /** @param length of `rlp` */
  value(hash: Uint8Array, rlp: Uint8Array, length: number): Uint8Array {
    const row = this.#values.of(VERSIONS_OFFSET + HASH_PART + length);
    for (let i = 0; i < LENGTH_OFFSET; i++) row[i] = FIRST_MERGE_KEY[i]!;
    row[LENGTH_OFFSET] = (HASH_PART + length) & 255;
    row[LENGTH_OFFSET + 1] = (HASH_PART + length) >> 8;
    for (let i = 0; i < HASH_PART; i++) row[VERSIONS_OFFSET + i] = hash[i]!;
    row.set(rlp.subarray(0, length), VERSIONS_OFFSET + HASH_PART);
    return row;
  }
}

/** @param hash of the newest version; its first bytes are stored */
function joinRow(mergeNumber: number, hash: Uint8Array, rlp: Uint8Array, before: Uint8Array): Uint8Array {
  const hashLength = Math.min(hash.length, HASH_PART);
  const length = hashLength + rlp.length;
  const row = allocateShared(VERSIONS_OFFSET + length + before.length);
  row.set(numberKey(mergeNumber));
  row[LENGTH_OFFSET] = length & 255;
  row[LENGTH_OFFSET + 1] = length >> 8;
  for (let i = 0; i < hashLength; i++) row[VERSIONS_OFFSET + i] = hash[i]!;
  row.set(rlp, VERSIONS_OFFSET + hashLength);
  row.set(before, VERSIONS_OFFSET + length);
  return row;
}

/** The nodes in a row, each with the part of its hash that names it. */
export function nodesInRow(row: Uint8Array): readonly { readonly hashPart: Uint8Array; readonly rlp: Uint8Array }[] {
  return versionsOf(row)
    .filter((version) => version.length > 0)
    .map((version) => ({
      hashPart: version.subarray(0, HASH_PART),
      rlp: version.subarray(HASH_PART),
    }));
}

const NO_VERSION = new Uint8Array(0);

/** The newest version and the one before, views. */
function versionsOf(row: Uint8Array): readonly [newest: Uint8Array, before: Uint8Array] {
  const end = newestEnd(row);
  return [row.subarray(VERSIONS_OFFSET, end), row.subarray(end)];
}

/** Where the newest version ends. */
function newestEnd(row: Uint8Array): number {
  return VERSIONS_OFFSET + (row[LENGTH_OFFSET]! | (row[LENGTH_OFFSET + 1]! << 8));
}

function isVersion(row: Uint8Array, start: number, end: number, hash: Uint8Array): boolean {
  if (start === end) return false;
  for (let i = 0; i < HASH_PART; i++) if (row[start + i] !== hash[i]) return false;
  return true;
}

/** A copy of the RLP in the version `row[start..end)`. */
function rlpAt(row: Uint8Array, start: number, end: number): Uint8Array {
  return copyShared(row, start + HASH_PART, end);
}

function nodeKey(owner: Uint8Array, path: Uint8Array): Uint8Array {
  return writeNodeKey(owner, path, path.length, new Uint8Array(2 + owner.length + path.length));
}

/** Writes the key of the place `path[0..depth)` to `key`, which it fills. */
function writeNodeKey(owner: Uint8Array, path: Uint8Array, depth: number, key: Uint8Array): Uint8Array {
  key[0] = owner.length === 0 ? TABLE.accountTrieNode : TABLE.storageTrieNode;
  let at = 1;
  for (let i = 0; i < owner.length; i++) key[at++] = owner[i]!;
  for (let i = 0; i < depth; i++) key[at++] = path[i]!;
  key[at] = PATH_END;
  return key;
}

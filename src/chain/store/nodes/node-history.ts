import { concatBytes, equalBytes } from "../../../base/primitives/bytes.ts";
import { encodedText } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { copyShared } from "../../../base/primitives/slab.ts";
import { Views } from "../../../base/primitives/views.ts";
import { ByteReader, ByteWriter } from "../../../store/storage/byte-io.ts";
import type { Kv, KvWriter } from "../../../store/storage/kv.ts";
import { numberFromKey, numberKey, TABLE, tableKey } from "../../../store/storage/schema.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { childReference, decodeNode, HASH_LENGTH } from "../../../store/trie/node.ts";
import {
  COLUMNS,
  HASH_WORD,
  LENGTH,
  type NodeBatch,
  OWNER,
  PATH_LENGTH,
  SHORT_PATH,
} from "../../../store/trie/node-batch.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import { CHILD_VERSION, CHILDREN, NodeVersions, wholeVersion } from "./node-version.ts";

/**
 * Nibbles of the longest path of a node whose versions are stored. Below, at most one account in 4,096 of all is under a node, and
 * those are read from the history of accounts: 244 of a million.
 */
export const HISTORY_DEPTH = 2;

/** Ends the path in a key, as in the table of nodes. */
const PATH_END = 0x10;
/** Of a block in a key. */
const NUMBER_LENGTH = 6;
/** Of the key of a version. */
export const VERSION_KEY_LENGTH_MAX = 2 + 32 + HISTORY_DEPTH + NUMBER_LENGTH;
/** Of a version that has the whole node; a branch of hashes has 532 bytes. */
const WHOLE_HEADER_LENGTH = 2;
const VERSION_LENGTH_MAX = WHOLE_HEADER_LENGTH + 532;
/** With its checksum and the page header, such a row fills a page. */
const ROW_BYTES_MAX = 4_072;
/** Of a version in a row: its distance and its length. */
const VERSION_HEADER_MAX = 8;
/** Memory of a waiting version: its object, its part of a list and, of the first at a place, a copy of the node before; about. */
const VERSION_BYTES = 300;

/** A version whose row is encoded. */
type EncodedVersion = {
  readonly number: number;
  readonly key: Uint8Array;
  readonly row: Uint8Array;
  /** Of the newest version at a place: its hash and then its RLP. */
  node: Uint8Array | undefined;
};

/** What a block made of a node. Views of the batch instead would be most objects of a store that has many blocks to merge. */
type Version = {
  readonly number: number;
  readonly batch: NodeBatch;
  /** In the batch. Of a trie that became empty, that of the node that was replaced: its RLP is empty. */
  readonly entry: number;
  /** The version before, or its RLP; undefined where it is not known. */
  readonly before: Version | Uint8Array | undefined;
};

/**
 * Every version of the nodes near the roots of all tries, as what it changes in the version before: with the history of accounts and slots
 * that gives the nodes of any old state (historic-nodes.ts). 33 bytes for each changed child, where the path to an account takes
 * three kilobytes. The versions that a merge has of one place share rows that fill a page: a B-tree leaves half of each page empty between rows that are
 * inserted in order, and each row costs 24 bytes.
 *
 *     oldest   owner ‖ path ‖ 0x10 ‖ block number → version
 *     row      owner ‖ path ‖ 0x10 ‖ number of the first → (block number minus that ‖ length ‖ version)*
 *     version  bits of changed children u16 little-endian ‖ (length ‖ reference, or 0xff: the hash of the child's own version)*
 *              or 0 u16 ‖ RLP of the node, empty where the trie became empty
 */
export class NodeHistory {
  readonly #kv: Kv;
  /** Versions that no merge has begun with by owner and path, so that those of one place are written together. */
  #recent = new Map<string, (Version | EncodedVersion)[]>();
  /** The list that each of them is in, in the order in which they came. */
  #noted: (Version | EncodedVersion)[][] = [];
  #merging: (Version | EncodedVersion)[] = [];
  #written = 0;
  #recentBytes = 0;
  readonly #versions = new NodeVersions();

  readonly #encodesAtOnce: boolean;

  /** @param encodesAtOnce rows are encoded when a block is remembered, and do not hold its nodes until a merge */
  constructor(kv: Kv, { encodesAtOnce = false }: { readonly encodesAtOnce?: boolean | undefined } = {}) {
    this.#kv = kv;
    this.#encodesAtOnce = encodesAtOnce;
  }

  /** Memory of versions that no merge has begun with, without the nodes, which the table of nodes counts. */
  get recentBytes(): number {
    return this.#recentBytes;
  }

  /** Rows that a merge under way has still to write. */
  get mergingKeys(): number {
    return this.#merging.length - this.#written;
  }

  /**
   * Notes the versions in `batch`, which must not change afterwards: what they differ in is computed by the merge, not while a block is
   * waited for, where they are not encoded at once.
   * @param before has the nodes that it replaces
   */
  remember(number: number, batch: NodeBatch, before: TrieNodeReader): void {
    const replaced = new Map<string, number>();
    const added = new Map<string, number>();
    const { size, columns } = batch;
    let owner = -1;
    let ownerText = "";
    for (let i = 0; i < size; i++) {
      if (columns[i * COLUMNS + PATH_LENGTH]! > HISTORY_DEPTH) continue;
      // Entries of one owner follow each other.
      if (columns[i * COLUMNS + OWNER] !== owner) {
        owner = columns[i * COLUMNS + OWNER]!;
        ownerText = encodedText(batch.owner(i), "latin1");
      }
      const place = ownerText + String.fromCharCode(columns[i * COLUMNS + SHORT_PATH]!);
      if (columns[i * COLUMNS + LENGTH] !== 0) added.set(place, i);
      else {
        added.delete(place);
        if (!replaced.has(place)) replaced.set(place, i);
      }
    }
    for (const [place, entry] of added) {
      const replacedAt = replaced.get(place);
      if (replacedAt !== undefined) {
        const hasWord = columns[replacedAt * COLUMNS + HASH_WORD] === columns[entry * COLUMNS + HASH_WORD];
        if (hasWord && batch.hasHashOf(replacedAt, batch, entry)) continue;
      }
      this.#note(place, number, batch, entry, replacedAt, before);
    }
    for (const [place, entry] of replaced) {
      if (added.has(place) || batch.owner(entry).length === 0 || batch.pathLength(entry) > 0) continue;
      this.#note(place, number, batch, entry, undefined, before);
    }
  }

  /** Forgets what waits in memory of blocks after `number`, with which no merge has begun. */
  forgetAfter(number: number): void {
    for (let last = this.#noted.at(-1); last !== undefined; last = this.#noted.at(-1)) {
      if (last.at(-1)!.number <= number) return;
      this.#recentBytes -= bytesOf(last.pop()!);
      this.#noted.pop();
    }
  }

  /** Forgets what waits in memory. */
  reset(): void {
    this.#recent.clear();
    this.#noted = [];
    this.#forgetMerged();
    this.#recentBytes = 0;
  }

  beginMerge(): void {
    this.#merging = Array.from(this.#recent.values()).flat();
    this.#written = 0;
    this.#recent = new Map();
    this.#noted = [];
    this.#recentBytes = 0;
  }

  /** Writes up to `keysMax` versions, or fewer once `isLate` of the number written is true. Returns that number, 0 at the end. */
  mergeSome(keysMax: number, isLate: (rows: number) => boolean): number {
    const first = this.#written;
    const end = Math.min(first + keysMax, this.#merging.length);
    if (first === end) return 0;
    let at = first;
    this.#kv.transaction((writer) => {
      at = first;
      do at = this.#writeRow(writer, at);
      while (at < end && !isLate(at - first));
    });
    this.#written = at;
    // They would hold all nodes of their blocks until the next merge.
    if (at === this.#merging.length) this.#forgetMerged();
    return at - first;
  }

  /** Writes the versions from `first` on that are of the same place and fill a row, the same ones each time: the one after them. */
  #writeRow(writer: KvWriter, first: number): number {
    const { key, row } = this.#encodedAt(first);
    const start = numberFromKey(key, key.length - NUMBER_LENGTH);
    if (start === 0) {
      // As the rows of a genesis state are written.
      writer.put(key, row);
      return first + 1;
    }
    const versions = new ByteWriter(ROW_BYTES_MAX);
    writeVersion(versions, 0, row);
    let at = first + 1;
    for (; at < this.#merging.length; at++) {
      const next = this.#encodedAt(at);
      if (!isSamePlace(next.key, key) || versions.length + next.row.length + VERSION_HEADER_MAX > ROW_BYTES_MAX) break;
      writeVersion(versions, numberFromKey(next.key, key.length - NUMBER_LENGTH) - start, next.row);
    }
    writer.put(inTable(TABLE.trieNodeVersions, key), versions.finish());
    return at;
  }

  #encodedAt(index: number): { readonly key: Uint8Array; readonly row: Uint8Array } {
    const version = this.#merging[index]!;
    return "row" in version ? version : this.#encoded(version);
  }

  #forgetMerged(): void {
    this.#merging = [];
    this.#written = 0;
  }

  /** Removes the versions of block `number` at all places on the way to `key` in the trie of `owner`. */
  removeVersions(writer: KvWriter, owner: Uint8Array, key: Uint8Array, number: number): void {
    for (const path of historyPaths(key)) {
      const oldest = versionKey(owner, path, number);
      writer.remove(oldest);
      const last = { ...upTo(TABLE.trieNodeVersions, owner, path, number), reverse: true, limit: 1 };
      for (const [rowKey, row] of Array.from(writer.range(last))) {
        const versions = versionsIn(rowKey, row);
        const kept = versions.filter((version) => version.number !== number);
        if (kept.length < versions.length) putVersions(writer, rowKey, kept);
      }
    }
  }

  /**
   * Removes versions up to block `last` at the place `path` of the trie of `owner`; the newest of them is written whole.
   * Nothing happens where that was done before.
   */
  prune(writer: KvWriter, owner: Uint8Array, path: Uint8Array, last: number): void {
    const oldest = Array.from(writer.range(upTo(TABLE.trieNodeVersion, owner, path, last)));
    const rows = Array.from(writer.range(upTo(TABLE.trieNodeVersions, owner, path, last)));
    const later = rows.flatMap(([key, row]) => versionsIn(key, row)).filter(({ number }) => number <= last);
    const newest = later.at(-1) ?? oldest.map(([key, version]) => ({ number: numberOf(key), version })).at(-1);
    if (newest === undefined) return;
    const { number, version } = newest;
    const isWhole = version[0] === 0 && version[1] === 0;
    if (isWhole && later.length === 0 && oldest.length === 1) return;
    const rlp = isWhole ? version.subarray(2) : this.#nodeAt(owner, path, last);
    for (const [key] of oldest) if (numberOf(key) !== number) writer.remove(key);
    for (const [key, row] of rows) {
      const kept = versionsIn(key, row).filter((each) => each.number > last);
      putVersions(writer, key, kept);
    }
    // Rows that do not lead to a node are of no use, and neither is an empty node.
    if (rlp === undefined || rlp.length === 0) writer.remove(versionKey(owner, path, number));
    else writer.put(versionKey(owner, path, number), wholeVersion(rlp));
  }

  /** The node with `hash` at `path` if its version is the newest after block `number`; undefined where rows do not say. */
  find(owner: Uint8Array, path: Uint8Array, hash: Uint8Array, number: number): Uint8Array | undefined {
    if (path.length > HISTORY_DEPTH) return undefined;
    const rlp = this.#nodeAt(owner, path, number);
    return rlp !== undefined && equalBytes(keccak256(rlp), hash) ? rlp : undefined;
  }

  /** Root of the storage trie of `owner` after block `number`. */
  storageRootAt(owner: Uint8Array, number: number): Uint8Array {
    const rlp = this.#nodeAt(owner, new Uint8Array(0), number);
    return rlp === undefined || rlp.length === 0 ? EMPTY_TRIE_ROOT_BYTES : keccak256(rlp);
  }

  /** @param replacedAt the entry of the node that `entry` replaces, which `nodes` has */
  #note(
    place: string,
    number: number,
    batch: NodeBatch,
    entry: number,
    replacedAt: number | undefined,
    nodes: TrieNodeReader,
  ): void {
    let versions = this.#recent.get(place);
    if (versions === undefined) {
      versions = [];
      this.#recent.set(place, versions);
    }
    const last = versions[versions.length - 1];
    let before: Version["before"];
    if (replacedAt !== undefined) {
      const isLast = last !== undefined && "batch" in last && batch.hasHashOf(replacedAt, last.batch, last.entry);
      before = isLast ? last : rlpBefore(batch, replacedAt, last, nodes);
    }
    const version = { number, batch, entry, before };
    const noted = this.#encodesAtOnce ? this.#encodedVersion(last, version) : version;
    versions.push(noted);
    this.#noted.push(versions);
    this.#recentBytes += VERSION_BYTES;
    if ("row" in noted) this.#recentBytes += noted.key.length + noted.row.length;
  }

  /** @param last at the same place, whose node is no longer the newest */
  #encodedVersion(last: Version | EncodedVersion | undefined, version: Version): EncodedVersion {
    if (last !== undefined && "row" in last) last.node = undefined;
    const { number, batch, entry } = version;
    return { number, ...this.#encoded(version), node: concatBytes(batch.hash(entry), batch.rlp(entry)) };
  }

  #encoded({ number, batch, entry, before }: Version): { readonly key: Uint8Array; readonly row: Uint8Array } {
    const { owner, path, hash, rlp } = batch.at(entry);
    // A reader of the root would have to make all nodes below it.
    const hasChildVersions = path.length === HISTORY_DEPTH - 1;
    const row = this.#versions.encode(rlp, hash, rlpOf(before), hasChildVersions);
    return { key: versionKey(owner, path, number), row };
  }

  /** The versions of a place up to block `number`, the newest first. */
  *#versionsBack(owner: Uint8Array, path: Uint8Array, number: number): Generator<Uint8Array> {
    const later = { ...upTo(TABLE.trieNodeVersions, owner, path, number), reverse: true };
    for (const [key, row] of this.#kv.range(later)) {
      for (const version of versionsIn(key, row).toReversed()) if (version.number <= number) yield version.version;
    }
    const oldest = { ...upTo(TABLE.trieNodeVersion, owner, path, number), reverse: true };
    for (const [, version] of this.#kv.range(oldest)) yield version;
  }

  /** Hash of child `n` of the branch at `path` by its own versions. */
  #hashAt(owner: Uint8Array, path: Uint8Array, n: number, number: number): Uint8Array | undefined {
    const rlp = this.#nodeAt(owner, concatBytes(path, Uint8Array.of(n)), number);
    return rlp && keccak256(rlp);
  }

  /** RLP of the newest version, empty if the trie was empty; undefined without a version. */
  #nodeAt(owner: Uint8Array, path: Uint8Array, number: number): Uint8Array | undefined {
    const references: (Uint8Array | undefined)[] = new Array(CHILDREN);
    let known = 0;
    for (const row of this.#versionsBack(owner, path, number)) {
      const changed = row[0]! | (row[1]! << 8);
      if (changed === 0) {
        const whole = row.subarray(2);
        return known === 0 ? whole : withChildren(whole, known, references);
      }
      let at = 2;
      for (let n = 0; n < CHILDREN; n++) {
        if (((changed >> n) & 1) === 0) continue;
        const length = row[at++]!;
        const isOmitted = length === CHILD_VERSION;
        const end = isOmitted ? at : at + length;
        if (((known >> n) & 1) === 0) {
          const reference = isOmitted ? this.#hashAt(owner, path, n, number) : row.subarray(at, end);
          if (reference === undefined) return undefined;
          references[n] = reference;
        }
        at = end;
      }
      known |= changed;
      if (known === 0xffff) return branchOf(references);
    }
    return undefined;
  }
}

/** Entries of a row with versions. */
type StoredVersion = { readonly number: number; readonly version: Uint8Array };

function writeVersion(writer: ByteWriter, distance: number, version: Uint8Array): void {
  writer.varint(distance);
  writer.block(version);
}

/** The versions in a row, in order. */
function versionsIn(key: Uint8Array, row: Uint8Array): readonly StoredVersion[] {
  const first = numberOf(key);
  const reader = new ByteReader(row);
  const versions: StoredVersion[] = [];
  while (!reader.atEnd) versions.push({ number: first + reader.varint(), version: reader.block() });
  return versions;
}

/** Leaves these versions in the row of `key`. */
function putVersions(writer: KvWriter, key: Uint8Array, versions: readonly StoredVersion[]): void {
  if (versions.length === 0) {
    writer.remove(key);
    return;
  }
  const row = new ByteWriter(ROW_BYTES_MAX);
  for (const { number, version } of versions) writeVersion(row, number - numberOf(key), version);
  writer.put(key, row.finish());
}

/** The number of a block that a key ends with. */
function numberOf(key: Uint8Array): number {
  return numberFromKey(key, key.length - NUMBER_LENGTH);
}

function isSamePlace(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length - NUMBER_LENGTH; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** `key` in another table. */
function inTable(table: number, key: Uint8Array): Uint8Array {
  const moved = key.slice();
  moved[0] = table;
  return moved;
}

/** Rows of a place that begin at block `last` or before. */
function upTo(table: number, owner: Uint8Array, path: Uint8Array, last: number) {
  return {
    from: inTable(table, versionKey(owner, path, 0)),
    to: inTable(table, versionKey(owner, path, last + 1)),
  };
}

/** Memory of a waiting version. */
function bytesOf(version: Version | EncodedVersion): number {
  return VERSION_BYTES + ("row" in version ? version.key.length + version.row.length : 0);
}

/** RLP of the node that `entry` of a batch replaces: of the `last` version if that was encoded at once, or else a copy. */
function rlpBefore(
  batch: NodeBatch,
  entry: number,
  last: Version | EncodedVersion | undefined,
  nodes: TrieNodeReader,
): Uint8Array | undefined {
  if (last !== undefined && "row" in last && last.node !== undefined && batch.hasHash(entry, last.node)) {
    return last.node.subarray(HASH_LENGTH);
  }
  const rlp = nodes.node(batch.owner(entry), batch.path(entry), batch.hash(entry));
  return rlp && copyShared(rlp, 0, rlp.length);
}

function rlpOf(version: Version["before"]): Uint8Array | undefined {
  if (version === undefined || version instanceof Uint8Array) return version;
  return version.batch.rlp(version.entry);
}

/** The paths of all nodes on the way to `key` whose versions are stored. */
export function historyPaths(key: Uint8Array): readonly Uint8Array[] {
  const path = Uint8Array.of(key[0]! >> 4, key[0]! & 15);
  return Array.from({ length: HISTORY_DEPTH + 1 }, (_, depth) => path.subarray(0, depth));
}

/** The row of a version that block 0 made, whole; the bytes of one are overwritten by the next. */
export class FirstVersionRow {
  readonly #keys = new Views(VERSION_KEY_LENGTH_MAX);
  readonly #values = new Views(VERSION_LENGTH_MAX);
  readonly #number: Uint8Array;

  /** @param number of the block that makes the state */
  constructor(number: number) {
    this.#number = numberKey(number);
  }

  /** @param depth nibbles of `path`, HISTORY_DEPTH at most */
  key(owner: Uint8Array, path: Uint8Array, depth: number): Uint8Array {
    const key = this.#keys.of(2 + owner.length + depth + NUMBER_LENGTH);
    key[0] = TABLE.trieNodeVersion;
    let at = 1;
    for (let i = 0; i < owner.length; i++) key[at++] = owner[i]!;
    for (let i = 0; i < depth; i++) key[at++] = path[i]!;
    key[at++] = PATH_END;
    key.set(this.#number, at);
    return key;
  }

  /** @param length of `rlp` */
  value(rlp: Uint8Array, length: number): Uint8Array {
    const value = this.#values.of(WHOLE_HEADER_LENGTH + length);
    value.fill(0, 0, WHOLE_HEADER_LENGTH);
    value.set(rlp.subarray(0, length), WHOLE_HEADER_LENGTH);
    return value;
  }
}

/** `rlp`, a branch, with those children replaced that have a bit in `changed`; undefined for any other node. */
function withChildren(
  rlp: Uint8Array,
  changed: number,
  references: readonly (Uint8Array | undefined)[],
): Uint8Array | undefined {
  const node = rlp.length === 0 ? undefined : decodeNode(rlp);
  if (node?.kind !== "branch") return undefined;
  return branchOf(
    Array.from({ length: CHILDREN }, (_, n) => ((changed >> n) & 1 ? references[n] : childReference(node, n))),
  );
}

/** RLP of a branch without a value, as all are in tries with keys of one length. */
function branchOf(references: readonly (Uint8Array | undefined)[]): Uint8Array {
  let length = 1;
  for (const reference of references) length += itemLength(reference);
  const rlp = new Uint8Array(length + 3);
  let at = 0;
  if (length < 56) rlp[at++] = 0xc0 + length;
  else if (length < 256) {
    rlp[at++] = 0xf8;
    rlp[at++] = length;
  } else {
    rlp[at++] = 0xf9;
    rlp[at++] = length >> 8;
    rlp[at++] = length & 255;
  }
  for (const reference of references) {
    if (reference === undefined || reference.length === 0) rlp[at++] = 0x80;
    else {
      if (reference.length === HASH_LENGTH) rlp[at++] = 0x80 + HASH_LENGTH;
      rlp.set(reference, at);
      at += reference.length;
    }
  }
  rlp[at++] = 0x80;
  return rlp.slice(0, at);
}

function itemLength(reference: Uint8Array | undefined): number {
  if (reference === undefined || reference.length === 0) return 1;
  return reference.length === HASH_LENGTH ? HASH_LENGTH + 1 : reference.length;
}

function versionKey(owner: Uint8Array, path: Uint8Array, number: number): Uint8Array {
  return tableKey(TABLE.trieNodeVersion, owner, path, Uint8Array.of(PATH_END), numberKey(number));
}

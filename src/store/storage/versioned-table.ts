import { invariant } from "../../base/errors.ts";
import { encodedText } from "../../base/primitives/hex.ts";
import { allocateShared } from "../../base/primitives/slab.ts";
import { ByteReader, varintLength, writeVarint } from "./byte-io.ts";
import { type Kv, type KvReader, type KvWriter, type MissingRow, prefixRange } from "./kv.ts";
import { type PendingVersion, PendingVersions } from "./pending-versions.ts";
import {
  appendVersions,
  CHUNK_VERSIONS,
  decodePostingList,
  encodePostingList,
  type PostingList,
  type Version,
  versionAt,
  versionsFrom,
  versionsUpTo,
} from "./posting-list.ts";
import { NUMBER_MAX, numberKey, tableKey } from "./schema.ts";

/** What a block made of one key. */
export type VersionedChange = {
  readonly key: Uint8Array;
  /** undefined: the key is gone */
  readonly value: Uint8Array | undefined;
  /** where the log holds this change */
  readonly position: number;
};

export type VersionedTableOptions = {
  readonly kv: Kv;
  /** prefix of the rows with the latest values */
  readonly latestTable: number;
  /** prefix of the rows with posting lists */
  readonly historyTable: number;
  /** prefix of the rows with values at `base` */
  readonly baseTable: number;
  /** bytes of every key */
  readonly keyLength: number;
  /** bytes of the prefixes whose keys are requested, if any are */
  readonly prefixLength?: number;
  /** The value that the log holds at `position` for `key`. */
  readonly valueAt: (key: Uint8Array, position: number) => Uint8Array | undefined;
  /**
   * Given: where one of a key's two rows is missing though the other one is there, reads throw. Only for the owner of
   * all versions up to the newest row.
   */
  readonly missingRow?: MissingRow | undefined;
  /** Called in the transaction that writes the first version of a key. */
  readonly onFirstVersion?: (writer: KvWriter, key: Uint8Array) => void;
  /** Called in the transaction that removes the last row of a key. */
  readonly onLastVersion?: (writer: KvWriter, key: Uint8Array) => void;
};

/**
 * Keys with all the values they ever had: the latest in its own row, each older one at a position of the log that a posting list names.
 *
 *     latest    key → varint number of the block that wrote it ‖ value, as of the last merge of the key
 *     history   key → the newest 1 to 64 versions
 *               key ‖ number of its first version → 64 older versions
 *     base      key → its value after block `base`, where the latest is newer
 *
 * A pruned table has no versions up to block `base`. A key whose latest value is as old has an empty history row: it has this value
 * at every block since. Its first later change saves the value in a base row.
 *
 * New versions stay in memory with their values, and are merged into rows many blocks at a time: a B-tree takes sorted rows several times
 * faster than random ones, and writes a page with several of them once. Readers look into memory before the rows. One transaction writes
 * all rows of a key. The owner records the last merged block, and after a restart passes later versions to the table again.
 */
export class VersionedTable {
  readonly #options: VersionedTableOptions;
  readonly #kv: Kv;
  /** Versions not yet being merged. */
  #recent: PendingVersions;
  /** Versions being merged into rows, a slice at a time. */
  #merging: PendingVersions | undefined;
  /** Keys of `#merging` in the order of their rows, set when the first is due; `#merged` counts those done. */
  #order: Uint32Array | undefined;
  #merged = 0;
  /** The oldest block whose values can be read; set by the owner before it prunes. 0: nothing is pruned. */
  base = 0;

  constructor(options: VersionedTableOptions) {
    this.#options = options;
    this.#kv = options.kv;
    this.#recent = new PendingVersions(options);
  }

  /** Versions in memory that no merge has begun with. */
  get recentVersions(): number {
    return this.#recent.size;
  }

  /** Keys that a merge under way has still to write. */
  get mergingKeys(): number {
    return (this.#merging?.keyCount ?? 0) - this.#merged;
  }

  /** @throws KvMissingRowError */
  latest(key: Uint8Array): Uint8Array | undefined {
    const waiting = this.#waitingAt(key, NUMBER_MAX);
    if (waiting !== undefined) return waiting.value?.slice();
    const row = this.#kv.get(this.#latestKey(key));
    if (row !== undefined) return splitLatest(row).value;
    this.#assertDeleted(key);
    return undefined;
  }

  /**
   * The value of `key` after block `number`; undefined when there was none.
   * @param number not below `base`
   * @throws KvMissingRowError
   */
  at(key: Uint8Array, number: number): Uint8Array | undefined {
    const waiting = this.#waitingAt(key, number);
    if (waiting !== undefined) return waiting.value?.slice();
    const row = this.#kv.get(this.#latestKey(key));
    if (row !== undefined) {
      const latest = splitLatest(row);
      if (latest.number <= number) return latest.value;
    }
    const version = this.#storedVersionAt(this.#kv, key, number);
    if (version !== undefined) return this.#options.valueAt(key, version.position);
    const oldest = this.#baseValue(this.#kv, key);
    if (oldest !== undefined) return oldest;
    if (row !== undefined) this.#assertHasHistory(key);
    return undefined;
  }

  #baseValue(reader: KvReader, key: Uint8Array): Uint8Array | undefined {
    return this.base === 0 ? undefined : reader.get(this.#baseKey(key));
  }

  /** Throws where `key`, which has no latest value, was not deleted by its newest version. */
  #assertDeleted(key: Uint8Array): void {
    const { missingRow, valueAt } = this.#options;
    if (missingRow === undefined) return;
    const newest = this.#storedVersionAt(this.#kv, key, NUMBER_MAX);
    const value = newest ? valueAt(key, newest.position) : this.#baseValue(this.#kv, key);
    if (value !== undefined) throw missingRow(this.#latestKey(key));
  }

  /** Throws where `key`, which has a latest value, has no version at all. */
  #assertHasHistory(key: Uint8Array): void {
    const { missingRow } = this.#options;
    if (missingRow === undefined || this.versionAt(key, NUMBER_MAX) !== undefined) return;
    throw missingRow(this.#historyKey(key));
  }

  /** The newest change of `key` that is not newer than block `number`. */
  versionAt(key: Uint8Array, number: number): Version | undefined {
    return this.#waitingAt(key, number) ?? this.#storedVersionAt(this.#kv, key, number);
  }

  /** The same of those in memory. */
  #waitingAt(key: Uint8Array, number: number): PendingVersion | undefined {
    return this.#recent.versionAt(key, number) ?? this.#merging?.versionAt(key, number);
  }

  #writeLatest(writer: KvWriter, number: number, key: Uint8Array, value: Uint8Array | undefined): void {
    if (this.base > 0) this.#saveBaseValue(writer, key);
    if (value === undefined) writer.remove(this.#latestKey(key));
    else this.#putLatest(writer, number, key, value);
  }

  /** Writes the latest value of a key, which block `number` gave it. */
  #putLatest(writer: KvWriter, number: number, key: Uint8Array, value: Uint8Array): void {
    writer.put(this.#latestKey(key), joinLatest(number, value));
  }

  /** Called before the latest value of `key` is replaced. If it is also the oldest value, no version in the log holds it. */
  #saveBaseValue(writer: KvWriter, key: Uint8Array): void {
    const row = writer.get(this.#latestKey(key));
    if (row === undefined) return;
    const { number, value } = splitLatest(row);
    if (number <= this.base) writer.put(this.#baseKey(key), value);
  }

  /** Removes the versions of `key` up to block `base`, which must be in rows. Nothing happens where that was done before. */
  prune(writer: KvWriter, key: Uint8Array): void {
    const newestKey = this.#historyKey(key);
    const newest = writer.get(newestKey);
    if (newest === undefined) return;
    const list = decodePostingList(newest);
    const kept = versionsFrom(list, this.base + 1);
    const oldChunks = Array.from(
      writer.range({
        from: this.#historyKey(key, numberKey(0)),
        to: this.#historyKey(key, numberKey(this.base + 1)),
      }),
    );
    if (kept.length === list.length && oldChunks.length === 0) return;
    const value = this.at(key, this.base);
    for (const [rowKey, chunk] of oldChunks) {
      writer.remove(rowKey);
      const rest = versionsFrom(decodePostingList(chunk), this.base + 1);
      if (rest.length === 0) continue;
      writer.put(this.#historyKey(key, numberKey(rest[0]!)), encodePostingList(rest));
    }
    const latest = writer.get(this.#latestKey(key));
    const isNewest = latest !== undefined && splitLatest(latest).number <= this.base;
    if (value === undefined || isNewest) writer.remove(this.#baseKey(key));
    else writer.put(this.#baseKey(key), value);
    if (latest === undefined && kept.length === 0 && !this.#isInMemory(key)) {
      writer.remove(newestKey);
      this.#options.onLastVersion?.(writer, key);
    } else {
      writer.put(newestKey, encodePostingList(kept));
    }
  }

  #isInMemory(key: Uint8Array): boolean {
    return this.#recent.has(key) || this.#merging?.has(key) === true;
  }

  /** Notes a version; blocks must come in order. Done once the block is in the log, and again after a restart. */
  remember(number: number, { key, value, position }: VersionedChange): void {
    this.#recent.add(key, number, position, value);
  }

  /** Drops what was remembered of blocks after `number`, with which no merge has begun. */
  forgetAfter(number: number): void {
    this.#recent.forgetAfter(number);
  }

  /** Drops what was remembered of blocks before `number`: the rows are complete up to there. */
  forgetBefore(number: number): void {
    this.#recent = this.#recent.from(number);
  }

  /** Turns to merging everything remembered so far; the merge before must be through. */
  beginMerge(): void {
    invariant(this.#merging === undefined, "one merge must end before the next begins");
    const recent = this.#recent;
    this.#recent = new PendingVersions(this.#options, recent);
    if (recent.size > 0) this.#merging = recent;
  }

  /** Merges up to `keysMax` keys in one transaction, or fewer once `isLate` of the number merged is true. Returns that number, 0 at the end. */
  mergeSome(keysMax: number, isLate: (keys: number) => boolean = () => false): number {
    const merging = this.#merging;
    if (merging === undefined) return 0;
    const order = this.#order ?? merging.rowOrder();
    this.#order = order;
    const first = this.#merged;
    const end = Math.min(first + keysMax, order.length);
    let at = first;
    this.#kv.transaction((writer) => {
      at = first;
      while (at < end) {
        const index = order[at++]!;
        const newest = merging.newest(index);
        if (newest !== undefined) {
          const key = merging.key(index);
          this.#merge(writer, key, merging.list(index));
          this.#writeLatest(writer, newest.number, key, newest.value);
        }
        if (isLate(at - first)) break;
      }
    });
    for (let i = first; i < at; i++) merging.setWritten(order[i]!);
    this.#merged = at;
    if (at === order.length) {
      this.#merging = undefined;
      this.#order = undefined;
      this.#merged = 0;
    }
    return at - first;
  }

  /**
   * Makes block `number` the newest for `keys`, which must hold every key changed since: in memory now, in rows by the returned function,
   * which can be called again for another try of its transaction.
   */
  rollback(number: number, keys: readonly Uint8Array[]): (writer: KvWriter) => void {
    this.#recent.forgetAfter(number);
    this.#merging?.forgetAfter(number);
    return (writer) => this.#rollBackRows(writer, number, keys);
  }

  #rollBackRows(writer: KvWriter, number: number, keys: readonly Uint8Array[]): void {
    for (const key of keys) {
      const row = writer.get(this.#latestKey(key));
      // No merge has written a later version.
      if (row !== undefined && splitLatest(row).number <= number) continue;
      this.#trimRows(writer, key, number);
      const version = this.#storedVersionAt(writer, key, number);
      const value = version ? this.#options.valueAt(key, version.position) : this.#baseValue(writer, key);
      this.#writeLatest(writer, version?.number ?? this.base, key, value);
    }
  }

  /** Every key beginning with `prefix` that has or had a value, each once. */
  keys(prefix: Uint8Array): Iterable<Uint8Array> {
    const { historyTable, keyLength } = this.#options;
    const found = new Set<string>();
    for (const [row] of this.#kv.range(prefixRange(tableKey(historyTable, prefix)))) {
      if (row.length === 1 + keyLength) found.add(encodedText(row.subarray(1), "latin1"));
    }
    for (const key of this.#waitingKeysOf(prefix)) found.add(encodedText(key, "latin1"));
    return Array.from(found, (text) => Buffer.from(text, "latin1"));
  }

  /** Keys with versions that no row has yet; some have older versions in rows. */
  *unmergedKeys(): Iterable<Uint8Array> {
    for (const key of this.#merging?.unwrittenKeys() ?? []) yield key.slice();
    for (const key of this.#recent.unwrittenKeys()) {
      if (this.#merging?.has(key) !== true) yield key.slice();
    }
  }

  /** The keys that begin with `prefix`, each once, as views. */
  *#waitingKeysOf(prefix: Uint8Array): Iterable<Uint8Array> {
    yield* this.#merging?.unwrittenKeysOf(prefix) ?? [];
    for (const key of this.#recent.unwrittenKeysOf(prefix)) {
      if (this.#merging?.has(key) !== true) yield key;
    }
  }

  /** Versions of all keys together. Reads every history row. */
  versionCount(): number {
    let count = 0;
    const rows = prefixRange(Uint8Array.of(this.#options.historyTable));
    for (const [, chunk] of this.#kv.range(rows)) count += decodePostingList(chunk).length / 2;
    for (const versions of [this.#merging, this.#recent]) {
      for (let index = 0; index < (versions?.keyCount ?? 0); index++) {
        const newest = this.#kv.get(this.#historyKey(versions!.key(index)));
        const known = newest === undefined ? [] : decodePostingList(newest);
        count += (appendVersions(known, versions!.list(index)).length - known.length) / 2;
      }
    }
    return count;
  }

  /** Keys beginning with `prefix` that have a value now, in any order. */
  *latestEntries(prefix: Uint8Array): Generator<readonly [key: Uint8Array, value: Uint8Array]> {
    for (const [rowKey, row] of this.#kv.range(prefixRange(tableKey(this.#options.latestTable, prefix)))) {
      const key = rowKey.subarray(1);
      if (!this.#isInMemory(key)) yield [key, splitLatest(row).value];
    }
    for (const key of this.#waitingKeysOf(prefix)) {
      const { value } = this.#waitingAt(key, NUMBER_MAX)!;
      if (value !== undefined) yield [key.slice(), value.slice()];
    }
  }

  #storedVersionAt(reader: KvReader, key: Uint8Array, number: number): Version | undefined {
    const newest = reader.get(this.#historyKey(key));
    if (newest === undefined) return undefined;
    const version = versionAt(decodePostingList(newest), number);
    if (version !== undefined) return version;
    const full = this.#lastFullChunk(reader, key, number);
    return full && versionAt(full.list, number);
  }

  /** The last full chunk that begins at or before block `number`: the only one that can answer for it. */
  #lastFullChunk(
    reader: KvReader,
    key: Uint8Array,
    number: number,
  ): { readonly rowKey: Uint8Array; readonly list: PostingList } | undefined {
    const range = {
      from: this.#historyKey(key, numberKey(0)),
      to: this.#historyKey(key, numberKey(number + 1)),
    };
    for (const [rowKey, chunk] of reader.range({ ...range, reverse: true, limit: 1 })) {
      return { rowKey, list: decodePostingList(chunk) };
    }
    return undefined;
  }

  #merge(writer: KvWriter, key: Uint8Array, newer: readonly number[]): void {
    const newest = writer.get(this.#historyKey(key));
    if (newest === undefined) this.#options.onFirstVersion?.(writer, key);
    const known = newest === undefined ? [] : decodePostingList(newest);
    // After a crash in the middle of a merge some versions come again that their rows hold already.
    const list = appendVersions(known, newer);
    const chunkLength = CHUNK_VERSIONS * 2;
    let start = 0;
    for (; list.length - start > chunkLength; start += chunkLength) {
      const full = list.slice(start, start + chunkLength);
      writer.put(this.#historyKey(key, numberKey(full[0]!)), encodePostingList(full));
    }
    writer.put(this.#historyKey(key), encodePostingList(list.slice(start)));
  }

  #trimRows(writer: KvWriter, key: Uint8Array, number: number): void {
    const newestKey = this.#historyKey(key);
    const newest = writer.get(newestKey);
    if (newest === undefined) return;
    let list = versionsUpTo(decodePostingList(newest), number);
    while (list.length === 0) {
      const full = this.#lastFullChunk(writer, key, NUMBER_MAX);
      if (full === undefined) break;
      writer.remove(full.rowKey);
      list = versionsUpTo(full.list, number);
    }
    if (list.length === 0 && this.#baseValue(writer, key) === undefined) writer.remove(newestKey);
    else writer.put(newestKey, encodePostingList(list));
  }

  #latestKey(key: Uint8Array): Uint8Array {
    return tableKey(this.#options.latestTable, key);
  }

  #baseKey(key: Uint8Array): Uint8Array {
    return tableKey(this.#options.baseTable, key);
  }

  #historyKey(key: Uint8Array, ...rest: readonly Uint8Array[]): Uint8Array {
    return tableKey(this.#options.historyTable, key, ...rest);
  }
}

function joinLatest(number: number, value: Uint8Array): Uint8Array {
  const row = allocateShared(varintLength(number) + value.length);
  const start = writeVarint(number, row, 0);
  for (let i = 0; i < value.length; i++) row[start + i] = value[i]!;
  return row;
}

function splitLatest(row: Uint8Array): { readonly number: number; readonly value: Uint8Array } {
  const reader = new ByteReader(row);
  const number = reader.varint();
  return { number, value: row.subarray(reader.offset) };
}

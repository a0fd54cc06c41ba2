import { invariant } from "../../errors.ts";
import { ByteReader } from "../../storage/byte-io.ts";
import { type Kv, type KvWriter, prefixRange } from "../../storage/kv.ts";
import { numberKey, TABLE, tableKey } from "../../storage/schema.ts";
import type { NodeBatch } from "../../trie/node-batch.ts";
import type { TrieNodeReader } from "../../trie/node-store.ts";
import { PendingNodes } from "./pending-nodes.ts";

/** Ends the nibbles of a path in a node's key: no nibble is 16, so no path's key begins another's. */
const PATH_END = 0x10;
/** Bytes of a node's hash at the end of its key. */
export const NODE_HASH_LENGTH = 16;
/** A row that lists replaced nodes is full at this size: several fit a page. */
const REPLACED_ROW_BYTES = 1_200;

/**
 * Trie nodes: in rows, those of the state at the last checkpoint, and in memory those of the blocks since.
 *
 * A block makes nodes all over the key space, a thousand for 200 transfers, twenty for no transaction at all; and most of them, near the
 * roots, last until the next block. So they wait in memory for a merge, which ends in a checkpoint. It writes the newest node of each
 * place beside the row of the old one, then the checkpoint, and removes the old rows only then: at every moment, and for every
 * reader, the rows hold the whole state of one checkpoint. What is to be removed is listed in rows too, so a crash leaves none behind.
 */
export class TrieNodeTable implements TrieNodeReader {
  readonly #kv: Kv;
  #recent = new PendingNodes();
  #merging: PendingNodes | undefined;
  /** Places of `#merging` in the order of their rows, and how many are written. */
  #order: Float64Array = new Float64Array(0);
  #written = 0;
  /** Number of the merge under way, or of the next one. */
  #mergeNumber = 0;
  #replacedRows = 0;
  /** Rows with replaced nodes of ended merges may be there. */
  #hasReplaced: boolean;

  constructor(kv: Kv) {
    this.#kv = kv;
    this.#hasReplaced = [...kv.range({ ...REPLACED_ROWS, limit: 1 })].length > 0;
  }

  /** Memory of the nodes that no merge has begun with. */
  get recentBytes(): number {
    return this.#recent.nodes.bytes;
  }

  /** Memory of all nodes that have still to be written. */
  get waitingBytes(): number {
    const left = 1 - this.#written / Math.max(1, this.#order.length);
    return this.recentBytes + left * (this.#merging?.nodes.bytes ?? 0);
  }

  /** True while rows of replaced nodes are left, which have to be removed before the next merge begins. */
  get hasReplaced(): boolean {
    return this.#hasReplaced;
  }

  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const pending = this.#recent.find(hash) ?? this.#merging?.find(hash);
    return pending ?? this.#kv.get(nodeKey(owner, path, hash));
  }

  remember(batch: NodeBatch): void {
    this.#recent.add(batch);
  }

  /** Forgets what waits in memory. */
  reset(): void {
    this.#recent = new PendingNodes();
    this.#merging = undefined;
    this.#order = new Float64Array(0);
    this.#written = 0;
  }

  /** Turns to merging what was remembered. @param number of this merge, above that of every one that has ended */
  beginMerge(number: number): void {
    invariant(this.#merging === undefined, "one merge must end before the next begins");
    invariant(!this.#hasReplaced, "replaced nodes of one merge must be removed before the next");
    this.#merging = this.#recent;
    this.#recent = new PendingNodes();
    this.#order = this.#merging.sortedPlaces();
    this.#written = 0;
    this.#mergeNumber = number;
    this.#replacedRows = 0;
  }

  /** Writes nodes of up to `keysMax` places, or until `isLate` says so; how many. 0: there is nothing left to write. */
  mergeSome(keysMax: number, isLate: () => boolean): number {
    const merging = this.#merging;
    const end = Math.min(this.#written + keysMax, this.#order.length);
    if (merging === undefined || this.#written === end) return 0;
    const { nodes } = merging;
    const first = this.#written;
    let at = first;
    this.#kv.transaction((writer) => {
      const replaced: Uint8Array[] = [];
      do {
        const place = this.#order[at++]!;
        const newest = merging.newest(place);
        if (newest >= 0) {
          const { owner, path, hash, rlp } = nodes.at(newest);
          writer.put(nodeKey(owner, path, hash), rlp);
        }
        const old = merging.replaced(place);
        if (old < 0) continue;
        const { owner, path, hash } = nodes.at(old);
        replaced.push(nodeKey(owner, path, hash));
      } while (at < end && !isLate());
      this.#listReplaced(writer, replaced);
    });
    this.#written = at;
    return at - first;
  }

  /** After the transaction that wrote the checkpoint of the merge under way. */
  endMerge(): void {
    this.#merging = undefined;
    this.#order = new Float64Array(0);
    this.#written = 0;
    this.#hasReplaced = this.#replacedRows > 0;
  }

  /** Removes rows of replaced nodes that merges up to `lastMerge` have listed; how many. 0: none is left. */
  removeReplaced(keysMax: number, lastMerge: number, isLate: () => boolean): number {
    const range = { from: REPLACED_ROWS.from, to: replacedKey(lastMerge + 1, 0) };
    let removed = 0;
    this.#kv.transaction((writer) => {
      while (removed < keysMax && (removed === 0 || !isLate())) {
        const [row] = writer.range({ ...range, limit: 1 });
        if (row === undefined) break;
        const [listKey, list] = row;
        for (const reader = new ByteReader(list); !reader.atEnd; removed++) {
          writer.remove(reader.bytes(reader.byte()));
        }
        writer.remove(listKey);
      }
      this.#hasReplaced = removed > 0;
    });
    return removed;
  }

  /** Drops the lists of a merge that did not end: what they name is still in use. @param lastMerge number of the last one that did */
  dropUnfinished(writer: KvWriter, lastMerge: number): void {
    const unfinished = { from: replacedKey(lastMerge + 1, 0), to: REPLACED_ROWS.to };
    for (const [key] of Array.from(writer.range(unfinished))) writer.remove(key);
  }

  #listReplaced(writer: KvWriter, keys: readonly Uint8Array[]): void {
    const row = new Uint8Array(REPLACED_ROW_BYTES);
    let used = 0;
    const flush = () => {
      if (used === 0) return;
      writer.put(replacedKey(this.#mergeNumber, this.#replacedRows++), row.slice(0, used));
      used = 0;
    };
    for (const key of keys) {
      if (used + 1 + key.length > row.length) flush();
      row[used++] = key.length;
      row.set(key, used);
      used += key.length;
    }
    flush();
  }
}

const REPLACED_ROWS = prefixRange(Uint8Array.of(TABLE.replacedTrieNodes));

function replacedKey(merge: number, row: number): Uint8Array {
  return tableKey(TABLE.replacedTrieNodes, numberKey(merge), numberKey(row));
}

function nodeKey(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array {
  const key = new Uint8Array(2 + owner.length + path.length + NODE_HASH_LENGTH);
  key[0] = owner.length === 0 ? TABLE.accountTrieNode : TABLE.storageTrieNode;
  let at = 1;
  for (let i = 0; i < owner.length; i++) key[at++] = owner[i]!;
  for (let i = 0; i < path.length; i++) key[at++] = path[i]!;
  key[at++] = PATH_END;
  for (let i = 0; i < NODE_HASH_LENGTH; i++) key[at++] = hash[i]!;
  return key;
}

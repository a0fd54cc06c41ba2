/** LMDB on a simulated disk: rows in memory that outlive the process, as mapped pages do, and not a power cut. */

import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { invariant } from "../../../src/base/errors.ts";
import type { Kv, KvRange, KvRow, KvWriter } from "../../../src/store/storage/kv.ts";
import { KvCorruptionError, KvDamagedError } from "../../../src/store/storage/kv.ts";
import type * as Replaced from "../../../src/store/storage/lmdb/lmdb-kv.ts";
import { createMemoryKv } from "../../../src/store/storage/memory-kv.ts";
import { currentProcess } from "../kernel/current.ts";
import type { FileNode, MappedFile } from "../kernel/disk.ts";
import type { Random } from "../kernel/random.ts";

export type KvFollower = Replaced.KvFollower;

/** Of the mapped file. */
const PAGE_BYTES = 4_096;

export class NativeStoreMissingError extends Error {}

/** Rows of one environment, whoever has it open. */
export class MappedRows implements MappedFile {
  readonly kv = createMemoryKv();
  /** What each row held at the last sync, of those written since. */
  readonly #unsynced = new Map<string, Uint8Array | undefined>();
  /** Rows whose bytes changed on the medium. */
  readonly rotten = new Set<string>();
  commits = 0;
  /** Of all keys and values. */
  #rowBytes = 0;
  /** Pages that the file has on the disk: those of removed rows are used again, and not given back. */
  #pages = 0;

  get bytes(): number {
    return this.#pages * PAGE_BYTES;
  }

  /** @returns pages that the file has to get for so many more bytes of rows */
  pagesFor(rowBytes: number): number {
    return Math.max(0, Math.ceil((this.#rowBytes + rowBytes) / PAGE_BYTES) - this.#pages);
  }

  grow(rowBytes: number): void {
    this.#pages += this.pagesFor(rowBytes);
    this.#rowBytes += rowBytes;
  }

  written(key: string, before: Uint8Array | undefined): void {
    if (!this.#unsynced.has(key)) this.#unsynced.set(key, before);
  }

  sync(): void {
    this.#unsynced.clear();
  }

  /** A transaction that was cut short was undone by its exception. */
  unmap(): void {}

  /** Of pages that were not synced any can be old. */
  lose(random: Random): void {
    const share = random.pick([0, 0.1, 0.9]);
    this.kv.transaction((writer) => {
      for (const [key, before] of this.#unsynced) {
        if (random.chance(share)) continue;
        if (before === undefined) writer.remove(keyOf(key));
        else writer.put(keyOf(key), before);
      }
    });
    this.#unsynced.clear();
  }

  rot(random: Random): boolean {
    const rows = [...this.kv.range({ limit: 4_000 })];
    if (rows.length === 0) return false;
    this.rotten.add(textOf(random.pick(rows)[0]));
    return true;
  }

  copy(): MappedRows {
    const copy = new MappedRows();
    copy.kv.transaction((writer) => {
      for (const [key, value] of this.kv.range({})) writer.put(key, value);
    });
    copy.commits = this.commits;
    copy.grow(this.#rowBytes);
    return copy;
  }
}

class SimulatedKv implements Kv, KvWriter {
  readonly #file: FileNode;
  readonly #path: string;
  readonly #rows: MappedRows;
  readonly #onDamage: (error: Error) => void;
  readonly #isDurable: boolean;
  readonly #isReadOnly: boolean;
  readonly #process = currentProcess();
  #writer: KvWriter | undefined;
  #isClosed = false;
  reads = 0;

  constructor(
    directory: string,
    options: { isDurable?: boolean; isReadOnly?: boolean; onDamage?: ((error: Error) => void) | undefined } = {},
  ) {
    this.#path = join(directory, "data.mdb");
    this.#onDamage = options.onDamage ?? (() => {});
    this.#isDurable = options.isDurable ?? false;
    this.#isReadOnly = options.isReadOnly ?? false;
    const { disk } = this.#process;
    if (disk.find(directory) === undefined) disk.makeDirectory(directory, 0o700);
    if (!existsSync(this.#path)) closeSync(openSync(this.#path, "w", 0o600));
    this.#file = disk.find(this.#path) as FileNode;
    if (this.#file.content.size > 0 && !this.#isWhole()) throw new KvDamagedError("index files are damaged");
    this.#file.mapped ??= new MappedRows();
    this.#rows = this.#file.mapped as MappedRows;
    if (!this.#isReadOnly) this.#writeHead();
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.view(key)?.slice();
  }

  view(key: Uint8Array): Uint8Array | undefined {
    invariant(!this.#isClosed, "the store must be open");
    this.#process.assertAlive();
    this.reads++;
    this.#verify(key);
    return this.#rows.kv.view(key);
  }

  *range(range: KvRange): Generator<KvRow> {
    invariant(!this.#isClosed, "the store must be open");
    this.reads++;
    for (const row of this.#rows.kv.range(range)) {
      this.#process.assertAlive();
      this.#verify(row[0]);
      yield row;
    }
  }

  transaction<T>(work: (writer: KvWriter) => T): T {
    invariant(!this.#isClosed, "the store must be open");
    const { disk } = this.#process;
    const rows = this.#rows;
    const written = new Map<string, Uint8Array | undefined>();
    let rowBytes = 0;
    const result = rows.kv.transaction((inner) => {
      this.#writer = {
        get: (key) => inner.get(key),
        view: (key) => inner.view(key),
        range: (range) => inner.range(range),
        put(key, value) {
          const text = textOf(key);
          if (!written.has(text)) written.set(text, inner.get(key));
          rows.rotten.delete(text);
          inner.put(key, value);
        },
        remove(key) {
          const text = textOf(key);
          if (!written.has(text)) written.set(text, inner.get(key));
          rows.rotten.delete(text);
          inner.remove(key);
        },
      };
      try {
        const value = work(this.#writer);
        // The pages of the transaction are written here: the process can die before, and the disk be full.
        disk.beforeChange?.(++disk.changes, "commit");
        this.#process.assertAlive();
        for (const [key, before] of written) rowBytes += bytesOf(key, inner.view(keyOf(key))) - bytesOf(key, before);
        const pages = rows.pagesFor(rowBytes);
        if (pages > 0 && disk.usedBytes() + pages * PAGE_BYTES > disk.faults.capacity) this.#process.busError();
        this.#process.assertAlive();
        return value;
      } finally {
        this.#writer = undefined;
      }
    });
    for (const [key, before] of written) rows.written(key, before);
    rows.grow(rowBytes);
    rows.commits++;
    if (this.#isDurable) rows.sync();
    return result;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    invariant(this.#writer, "writes must happen inside a transaction");
    this.#writer.put(key, value);
  }

  remove(key: Uint8Array): void {
    invariant(this.#writer, "writes must happen inside a transaction");
    this.#writer.remove(key);
  }

  /** A follower sees every commit. */
  refresh(): void {}

  sync(): void {
    this.#writeHead();
    this.#process.disk.sync(this.#file);
    this.#rows.sync();
  }

  close(): void {
    if (this.#isClosed) return;
    if (!this.#isReadOnly) this.sync();
    this.#isClosed = true;
  }

  #verify(key: Uint8Array): void {
    const { rotten } = this.#rows;
    if (rotten.size === 0 || !rotten.has(textOf(key))) return;
    const error = new KvCorruptionError({ key: Buffer.from(key).toString("hex") });
    this.#onDamage(error);
    throw error;
  }

  #writeHead(): void {
    writeFileSync(this.#path, HEAD + String(this.#rows.commits).padStart(12, "0"));
  }

  #isWhole(): boolean {
    return isWholeHead(readFileSync(this.#path) as Buffer);
  }
}

const HEAD = "simulated rows of LMDB; commits ";

/** What a data file begins with, whose rows are in memory. */
export function isWholeHead(content: Buffer): boolean {
  return new RegExp(`^${HEAD}\\d{12}$`).test(content.toString("latin1"));
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}

function keyOf(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

/** Of a row. */
function bytesOf(key: string, value: Uint8Array | undefined): number {
  return value === undefined ? 0 : key.length + value.length;
}

export function openLmdbKv(directory: string, onDamage?: (error: Error) => void): Kv {
  return new SimulatedKv(directory, { onDamage });
}

export function openDurableLmdbKv(directory: string): Kv {
  return new SimulatedKv(directory, { isDurable: true });
}

export function openLmdbFollower(directory: string): KvFollower {
  return new SimulatedKv(directory, { isReadOnly: true });
}

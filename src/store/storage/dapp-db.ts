import { concatBytes } from "../../base/primitives/bytes.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import type { Kv, KvReader } from "./kv.ts";

/** Data stored by db_putString and db_putHex, 4 GiB in total; the node rejects a put beyond a limit. */
export const DAPP_DB_LIMITS = {
  /** Size of a database's name. */
  nameBytesMax: 256,
  /** Key and value form one row of the store, read and written at once. */
  keyBytesMax: 1024,
  valueBytesMax: 2 ** 20,
  /** Total size of keys and values in one database. */
  databaseBytesMax: 64 * 2 ** 20,
  databasesMax: 64,
} as const;

export type DappDbLimits = { readonly [Name in keyof typeof DAPP_DB_LIMITS]: number };

export type DappDbModules = {
  /** The store is on disk already. */
  readonly exists: () => boolean;
  /** Called once, when something is put or when `exists`. */
  readonly open: () => Kv;
  /** Called for every put that a limit rejected. */
  readonly onRefused?: () => void;
};

/**
 * The on-disk format of its store, separate from the node's own stores: one row for each value and each database, told apart by the first byte.
 * Names and keys are hashed, so that no pair of them collides and none is longer than a key may be.
 */
const TABLE = {
  /** keccak256(name) → bytes used, u32 little-endian */
  database: 0x01,
  /** keccak256(name) ‖ keccak256(key) → value */
  value: 0x02,
} as const;

/** Values by database and key, for programs that store data in the node. */
export class DappDb {
  readonly #limits: DappDbLimits;
  readonly #modules: DappDbModules;
  #kv: Kv | undefined;

  constructor(limits: DappDbLimits, modules: DappDbModules) {
    this.#limits = limits;
    this.#modules = modules;
  }

  /** The value, or undefined when none was put. */
  get(name: string, key: string): Uint8Array | undefined {
    if (this.#kv === undefined && !this.#modules.exists()) return undefined;
    return this.#store().get(valueKey(name, key));
  }

  /** Stores `value` durably; false, with nothing changed, when a limit is exceeded. */
  put(name: string, key: string, value: Uint8Array): boolean {
    const isKept = this.#put(name, key, value);
    if (!isKept) this.#modules.onRefused?.();
    return isKept;
  }

  close(): void {
    this.#kv?.close();
    this.#kv = undefined;
  }

  #put(name: string, key: string, value: Uint8Array): boolean {
    const limits = this.#limits;
    const keyBytes = Buffer.byteLength(key);
    if (
      Buffer.byteLength(name) > limits.nameBytesMax ||
      keyBytes > limits.keyBytesMax ||
      value.length > limits.valueBytesMax
    ) {
      return false;
    }
    const store = this.#store();
    const isKept = store.transaction((writer) => {
      const databaseKey = tableKey(TABLE.database, name);
      const used = readSize(writer, databaseKey);
      if (used === undefined && countDatabases(writer) >= limits.databasesMax) return false;
      const row = valueKey(name, key);
      const before = writer.get(row);
      const replaced = before === undefined ? 0 : keyBytes + before.length;
      const size = (used ?? 0) - replaced + keyBytes + value.length;
      if (size > limits.databaseBytesMax) return false;
      writer.put(row, value);
      writer.put(databaseKey, sizeBytes(size));
      return true;
    });
    if (isKept) store.sync();
    return isKept;
  }

  #store(): Kv {
    this.#kv ??= this.#modules.open();
    return this.#kv;
  }
}

function tableKey(table: number, name: string): Uint8Array {
  return concatBytes(Uint8Array.of(table), keccak256(Buffer.from(name)));
}

function valueKey(name: string, key: string): Uint8Array {
  return concatBytes(tableKey(TABLE.value, name), keccak256(Buffer.from(key)));
}

function readSize(reader: KvReader, key: Uint8Array): number | undefined {
  const row = reader.get(key);
  return row && Buffer.from(row).readUInt32LE();
}

function sizeBytes(size: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(size);
  return bytes;
}

function countDatabases(reader: KvReader): number {
  const to = Uint8Array.of(TABLE.database + 1);
  return [...reader.range({ from: Uint8Array.of(TABLE.database), to })].length;
}

import { createRequire } from "node:module";
import { join } from "node:path";
import { openLmdbKv } from "../../src/store/storage/lmdb/lmdb-kv.ts";

export type PeerRow = { readonly key: Uint8Array; readonly value: Uint8Array };

/** An ordered store of rows, as far as `bench -- stores` needs it. */
export type PeerStore = {
  /** Undefined where a read cannot be waited for on the caller's thread. */
  readonly get?: (key: Uint8Array) => Uint8Array | undefined;
  readonly getLater?: (key: Uint8Array) => Promise<Uint8Array | undefined>;
  /** One transaction; a promise where the store has no other way. It survives the process, not a power cut. */
  commit(rows: readonly PeerRow[]): void | Promise<void>;
  close(): void | Promise<void>;
};

/** Opens each store in an empty directory. @param packages a directory in whose node_modules the packages of the peers are */
export const PEER_STORES: Readonly<
  Record<string, (directory: string, packages: string) => PeerStore | Promise<PeerStore>>
> = {
  lmdb: (directory) => openLmdb(directory, true),
  "lmdb, no writable map": (directory) => openLmdb(directory, false),
  "classic-level": openClassicLevel,
  "@nxtedition/rocksdb": openRocksLevel,
  rocksdb: openRocksDb,
  "rocksdb-native": openRocksNative,
  "better-sqlite3": openSqlite,
};

function load<T>(packages: string, name: string): T {
  return createRequire(join(packages, "package.json"))(name) as T;
}

/** With the checksum of each row that our store computes; the peers have none of rows, or of blocks in their file. */
function openLmdb(directory: string, writableMap: boolean): PeerStore {
  const kv = openLmdbKv(directory, undefined, { writableMap });
  return {
    get: (key) => kv.get(key),
    commit: (rows) => {
      kv.transaction((writer) => {
        for (const { key, value } of rows) writer.put(key, value);
      });
    },
    close: () => kv.close(),
  };
}

type BatchRow = { readonly type: "put" } & PeerRow;

type ClassicLevel = {
  open(): Promise<void>;
  getSync(key: Uint8Array): Uint8Array | undefined;
  batch(rows: readonly BatchRow[]): Promise<void>;
  close(): Promise<void>;
};

const BINARY = { keyEncoding: "view", valueEncoding: "view" } as const;
/** What a cache of blocks may take: as much as our node gives its own caches. */
const CACHE_BYTES = 256 << 20;

async function openClassicLevel(directory: string, packages: string): Promise<PeerStore> {
  const { ClassicLevel } = load<{ ClassicLevel: new (path: string, options: object) => ClassicLevel }>(
    packages,
    "classic-level",
  );
  const db = new ClassicLevel(directory, { ...BINARY, cacheSize: CACHE_BYTES });
  await db.open();
  return {
    get: (key) => db.getSync(key),
    commit: (rows) => db.batch(rows.map((row) => ({ type: "put", ...row }))),
    close: () => db.close(),
  };
}

type RocksLevel = {
  open(): Promise<void>;
  _getManySync(keys: readonly Uint8Array[], options: object): readonly (Uint8Array | undefined)[];
  batch(): { put(key: Uint8Array, value: Uint8Array): void; _writeSync(): void };
  close(): Promise<void>;
};

async function openRocksLevel(directory: string, packages: string): Promise<PeerStore> {
  const { RocksLevel } = load<{ RocksLevel: new (path: string, options: object) => RocksLevel }>(
    packages,
    "@nxtedition/rocksdb",
  );
  const encoding = { keyEncoding: "buffer", valueEncoding: "buffer" };
  const db = new RocksLevel(directory, { ...encoding, cacheSize: CACHE_BYTES });
  await db.open();
  return {
    get: (key) => db._getManySync([key], encoding)[0],
    commit(rows) {
      const batch = db.batch();
      for (const { key, value } of rows) batch.put(key, value);
      batch._writeSync();
    },
    close: () => db.close(),
  };
}

type Callback<T> = (error: Error | null, value: T) => void;
type RocksDb = {
  open(options: object, done: Callback<void>): void;
  get(key: Buffer, done: Callback<Uint8Array>): void;
  batch(rows: readonly object[], done: Callback<void>): void;
  close(done: Callback<void>): void;
};

async function openRocksDb(directory: string, packages: string): Promise<PeerStore> {
  const db = load<(path: string) => RocksDb>(packages, "rocksdb")(directory);
  const later = <T>(call: (done: Callback<T>) => void) =>
    new Promise<T>((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value))));
  await later<void>((done) => db.open({ cacheSize: CACHE_BYTES }, done));
  return {
    getLater: (key) => later((done) => db.get(bufferOf(key), done)),
    commit: (rows) =>
      later((done) =>
        db.batch(
          rows.map(({ key, value }) => ({ type: "put", key: bufferOf(key), value: bufferOf(value) })),
          done,
        ),
      ),
    close: () => later((done) => db.close(done)),
  };
}

type RocksNativeBatch = {
  get(key: Buffer): Promise<Uint8Array>;
  put(key: Buffer, value: Buffer): Promise<void>;
  flush(): Promise<void>;
  destroy(): void;
};
type RocksNative = {
  ready(): Promise<void>;
  read(options: object): RocksNativeBatch;
  write(options: object): RocksNativeBatch;
  close(): Promise<void>;
};

async function openRocksNative(directory: string, packages: string): Promise<PeerStore> {
  const RocksNative = load<new (path: string) => RocksNative>(packages, "rocksdb-native");
  const db = new RocksNative(directory);
  await db.ready();
  return {
    async getLater(key) {
      const batch = db.read({ autoDestroy: true });
      const value = batch.get(bufferOf(key));
      await batch.flush();
      return value;
    },
    async commit(rows) {
      const batch = db.write({ autoDestroy: true });
      const written = rows.map(({ key, value }) => batch.put(bufferOf(key), bufferOf(value)));
      await batch.flush();
      await Promise.all(written);
    },
    close: () => db.close(),
  };
}

type Sqlite = {
  pragma(text: string): unknown;
  exec(sql: string): void;
  prepare(sql: string): {
    pluck(): { get(key: Uint8Array): Uint8Array | undefined };
    run(key: Uint8Array, value: Uint8Array): void;
  };
  transaction<T>(work: (argument: T) => void): (argument: T) => void;
  close(): void;
};

function openSqlite(directory: string, packages: string): PeerStore {
  const Database = load<new (path: string) => Sqlite>(packages, "better-sqlite3");
  const db = new Database(join(directory, "rows.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = OFF");
  db.pragma(`cache_size = -${CACHE_BYTES >> 10}`);
  db.pragma("mmap_size = 4294967296");
  db.exec("CREATE TABLE row (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID");
  const select = db.prepare("SELECT value FROM row WHERE key = ?").pluck();
  const upsert = db.prepare("INSERT OR REPLACE INTO row VALUES (?, ?)");
  return {
    get: (key) => select.get(key),
    commit: db.transaction((rows: readonly PeerRow[]) => {
      for (const { key, value } of rows) upsert.run(key, value);
    }),
    close: () => db.close(),
  };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "../../../test/support/fast-check.ts";
import { InvariantError } from "../../base/errors.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { BufferedKv } from "./buffered-kv.ts";
import { type Kv, type KvRange, type KvWriter, prefixRange } from "./kv.ts";
import { openLmdbKv } from "./lmdb/lmdb-kv.ts";
import { isLmdbRowIntact } from "./lmdb/lmdb-row.ts";
import { createMemoryKv } from "./memory-kv.ts";

const stores: Record<string, (use: (kv: Kv) => void) => void> = {
  memory: (use) => use(createMemoryKv()),
  "lmdb, writable map": (use) => useLmdb(true, use),
  "lmdb, without it": (use) => useLmdb(false, use),
  "buffered, written at once": (use) => use(new BufferedKv(createMemoryKv())),
  "buffered, in memory": (use) => use(new WaitingKv(createMemoryKv())),
};

/** All of its transactions wait. */
class WaitingKv extends BufferedKv {
  override transaction<T>(work: (writer: KvWriter) => T): T {
    return this.buffer.transaction(work);
  }
}

function useLmdb(writableMap: boolean, use: (kv: Kv) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "evmint-kv-"));
  const kv = openLmdbKv(directory, undefined, { writableMap });
  try {
    use(kv);
  } finally {
    kv.close();
    rmSync(directory, { recursive: true });
  }
}

const bytes = (...values: number[]) => Uint8Array.from(values);
const plain = (kv: Kv, range: KvRange) =>
  Array.from(kv.range(range), ([key, value]) => [Array.from(key), Array.from(value)]);

for (const [name, withStore] of Object.entries(stores)) {
  describe(`Kv contract: ${name}`, () => {
    test("get gives what was put, undefined for what was not, and an empty value for an empty one", () =>
      withStore((kv) => {
        kv.transaction((writer) => {
          writer.put(bytes(1), bytes(7, 8));
          writer.put(bytes(2), bytes());
          writer.put(bytes(3), EMPTY_BYTES);
        });
        assert.deepEqual(Array.from(kv.get(bytes(1))!), [7, 8]);
        assert.deepEqual(Array.from(kv.get(bytes(2))!), []);
        assert.deepEqual(Array.from(kv.get(bytes(3))!), []);
        assert.equal(kv.get(bytes(4)), undefined);
        assert.equal(kv.get(bytes(1, 0)), undefined);
      }));

    test("all rows can be removed, and written again", () =>
      withStore((kv) => {
        const keys = Array.from({ length: 2_000 }, (_, i) => bytes(i >> 8, i & 255));
        for (const value of [bytes(), bytes(1), new Uint8Array(3_000)]) {
          kv.transaction((writer) => {
            for (const key of keys) writer.put(key, value);
          });
          assert.equal(plain(kv, { limit: 3 }).length, 3);
          kv.transaction((writer) => {
            for (const key of keys) writer.remove(key);
            assert.equal(writer.get(keys[7]!), undefined);
            writer.remove(keys[7]!);
            writer.remove(bytes(9, 9, 9));
          });
          assert.deepEqual(plain(kv, {}), []);
          assert.equal(kv.view(keys[7]!), undefined);
        }
        kv.transaction((writer) => {
          for (const key of keys.slice(10, 15)) writer.put(key, bytes(3));
          writer.remove(keys[12]!);
        });
        const left = [10, 11, 13, 14].map((i) => [[0, i], [3]]);
        assert.deepEqual(plain(kv, {}), left);
        assert.deepEqual(plain(kv, { limit: 3 }), left.slice(0, 3));
        assert.deepEqual(plain(kv, { limit: 3, reverse: true }), left.slice(1).reverse());
        assert.deepEqual(plain(kv, { limit: 0 }), []);
      }));

    test("a value read stays as it was read", () =>
      withStore((kv) => {
        kv.transaction((writer) => writer.put(bytes(1), bytes(1, 1, 1)));
        const before = kv.get(bytes(1))!;
        kv.transaction((writer) => writer.put(bytes(1), bytes(2, 2, 2)));
        kv.get(bytes(1));
        assert.deepEqual(Array.from(before), [1, 1, 1]);
      }));

    test("view shows what get gives, of every length, in and out of a transaction", () =>
      withStore((kv) => {
        const lengths = [0, 1, 100, 5_000, 300_000, 3];
        kv.transaction((writer) => {
          for (const length of lengths) {
            writer.put(bytes(length & 0xff, length >> 8), new Uint8Array(length).fill(7));
          }
          assert.deepEqual(Array.from(writer.view(bytes(1, 0))!), [7]);
        });
        for (const length of lengths) {
          const key = bytes(length & 0xff, length >> 8);
          assert.deepEqual(Array.from(kv.view(key)!), Array(length).fill(7));
          assert.deepEqual(kv.get(key), new Uint8Array(length).fill(7));
        }
        assert.equal(kv.view(bytes(9, 9)), undefined);
      }));

    test("a transaction reads its own writes and returns what its work returns", () =>
      withStore((kv) => {
        const seen = kv.transaction((writer) => {
          writer.put(bytes(5), bytes(1));
          writer.put(bytes(6), bytes(2));
          writer.remove(bytes(5));
          return [writer.get(bytes(5)), writer.get(bytes(6)), Array.from(writer.range({})).length];
        });
        assert.deepEqual([seen[0], Array.from(seen[1] as Uint8Array), seen[2]], [undefined, [2], 1]);
      }));

    test("a transaction that throws leaves nothing behind", () =>
      withStore((kv) => {
        kv.transaction((writer) => {
          writer.put(bytes(1), bytes(1));
          writer.put(bytes(2), bytes(2));
        });
        const fault = new Error("stop");
        assert.throws(
          () =>
            kv.transaction((writer) => {
              writer.put(bytes(1), bytes(9));
              writer.remove(bytes(2));
              writer.put(bytes(3), bytes(3));
              throw fault;
            }),
          fault,
        );
        assert.deepEqual(plain(kv, {}), [
          [[1], [1]],
          [[2], [2]],
        ]);
        kv.transaction((writer) => writer.put(bytes(4), bytes(4)));
        assert.equal(plain(kv, {}).length, 3);
      }));

    test("writes outside a transaction and nested transactions are refused", () =>
      withStore((kv) => {
        let kept: { put(key: Uint8Array, value: Uint8Array): void } | undefined;
        kv.transaction((writer) => {
          kept = writer;
          assert.throws(() => kv.transaction(() => undefined), InvariantError);
        });
        assert.throws(() => kept!.put(bytes(1), bytes(1)), InvariantError);
      }));

    test("a large value comes back whole", () =>
      withStore((kv) => {
        const large = new Uint8Array(300_000).map((_, i) => i % 251);
        kv.transaction((writer) => writer.put(bytes(1), large));
        assert.ok(Buffer.compare(kv.get(bytes(1))!, large) === 0);
        assert.ok(Buffer.compare(Array.from(kv.range({}))[0]![1], large) === 0);
      }));

    test("range equals filtering and sorting a list, for all bounds and both directions", () =>
      withStore((kv) => {
        const key = fc.uint8Array({ minLength: 1, maxLength: 3, max: 3 });
        const operation = fc.record({ key, value: fc.option(fc.uint8Array({ maxLength: 4 })) });
        const range = fc.record({ from: key, to: key, reverse: fc.boolean(), limit: fc.nat(5) }, { requiredKeys: [] });
        const model = new Map<string, Uint8Array>();
        const hex = (data: Uint8Array) => Buffer.from(data).toString("hex");
        fc.assert(
          fc.property(fc.array(operation, { maxLength: 12 }), range, (operations, asked) => {
            kv.transaction((writer) => {
              for (const { key, value } of operations) {
                if (value === null) writer.remove(key);
                else writer.put(key, value);
                if (value === null) model.delete(hex(key));
                else model.set(hex(key), value);
              }
            });
            let rows = Array.from(model).sort(([a], [b]) => (a < b ? -1 : 1));
            if (asked.from) rows = rows.filter(([k]) => k >= hex(asked.from!));
            if (asked.to) rows = rows.filter(([k]) => k < hex(asked.to!));
            if (asked.reverse) rows.reverse();
            rows = rows.slice(0, asked.limit ?? Infinity);
            assert.deepEqual(
              Array.from(kv.range(asked), ([k, v]) => [hex(k), hex(v)]),
              rows.map(([k, v]) => [k, hex(v)]),
            );
          }),
          { numRuns: 400 },
        );
      }));

    test("ten thousand rows in random order are visited in key order", () =>
      withStore((kv) => {
        const keys = Array.from({ length: 10_000 }, (_, i) => {
          const data = Buffer.alloc(8);
          data.writeUInt32BE((i * 2_654_435_761) >>> 0);
          data.writeUInt32BE(i, 4);
          return data;
        });
        kv.transaction((writer) => {
          for (const key of keys) writer.put(key, key);
        });
        kv.transaction((writer) => {
          for (const key of keys.slice(0, 5_000)) writer.remove(key);
        });
        const visited = Array.from(kv.range({}), ([key]) => Buffer.from(key).toString("hex"));
        const expected = keys.slice(5_000).map((key) => key.toString("hex"));
        assert.deepEqual(visited, expected.sort());
      }));

    test("prefixRange holds exactly the keys with the prefix", () =>
      withStore((kv) => {
        kv.transaction((writer) => {
          for (const key of [bytes(1), bytes(1, 255), bytes(1, 255, 0), bytes(1, 255, 255), bytes(2)])
            writer.put(key, bytes());
        });
        const keys = Array.from(kv.range(prefixRange(bytes(1, 255))), ([key]) => Array.from(key));
        assert.deepEqual(keys, [
          [1, 255],
          [1, 255, 0],
          [1, 255, 255],
        ]);
      }));
  });
}

test("the checksum of an LMDB row is zlib's crc32 of value and key, as in every index on disk", () => {
  const bytes = fc.uint8Array({ maxLength: 100 });
  const keyBytes = fc.uint8Array({ minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(keyBytes, bytes, fc.nat(), (key, value, flip) => {
      const sum = Buffer.alloc(4);
      sum.writeUInt32LE(crc32(key, crc32(value)));
      const row = Buffer.concat([value, sum]);
      assert.ok(isLmdbRowIntact(key, 0, key.length, row, 0, row.length));
      row[flip % row.length]! ^= 1 << (flip % 8);
      assert.ok(!isLmdbRowIntact(key, 0, key.length, row, 0, row.length));
    }),
  );
});

test("openLmdbKv keeps everything over close and open", () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-kv-"));
  try {
    const first = openLmdbKv(directory);
    first.transaction((writer) => writer.put(bytes(1), bytes(2)));
    first.sync();
    first.transaction((writer) => writer.put(bytes(3), bytes(4)));
    first.close();
    const second = openLmdbKv(directory);
    assert.deepEqual(plain(second, {}), [
      [[1], [2]],
      [[3], [4]],
    ]);
    second.close();
    assert.throws(() => second.get(bytes(1)), InvariantError);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

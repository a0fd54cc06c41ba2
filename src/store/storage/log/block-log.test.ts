import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "../../../../test/support/fast-check.ts";
import { createFaultyDisk } from "../../../../test/support/store/storage/faulty-disk.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { LOG_FORMAT } from "../schema.ts";
import { type BlockLog, openBlockLog } from "./block-log.ts";
import { type LogDirectory, openLogDirectory } from "./log-file.ts";
import { RECORD_HEADER_LENGTH, SEGMENT_HEADER_LENGTH } from "./log-segment.ts";
import { createMemoryLogDirectory } from "./memory-log-directory.ts";

const directories: Record<string, (use: (directory: LogDirectory) => void) => void> = {
  memory: (use) => use(createMemoryLogDirectory()),
  disk: (use) => {
    const path = mkdtempSync(join(tmpdir(), "evmint-log-"));
    try {
      use(openLogDirectory(path));
    } finally {
      rmSync(path, { recursive: true });
    }
  },
};

const payload = (length: number, seed = length) =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 7) % 256));
const payloads = (log: BlockLog, from = 0) => Array.from(log.records(from), (r) => r.payload);
const segments = (directory: LogDirectory) => directory.list().length;

/** Turns over bit `bit` of the byte at `offset` of the file at `index`; negative counts from the end. */
function flip(directory: LogDirectory, index: number, offset: number, bit = 0): void {
  const file = directory.open(directory.list().at(index)!);
  const byte = new Uint8Array(1);
  file.read(byte, offset);
  byte[0]! ^= 1 << bit;
  file.write(byte, offset);
  file.close();
}

for (const [name, withDirectory] of Object.entries(directories)) {
  describe(`BlockLog contract: ${name}`, () => {
    test("gives back what was appended, by position and in order, also when opened again", () =>
      withDirectory((directory) => {
        const written = Array.from({ length: 50 }, (_, i) => payload((i * 37) % 300));
        const log = openBlockLog({ directory, segmentBytesMax: 1_000 });
        const positions = written.map((bytes) => log.append(bytes));
        positions.push(log.append(EMPTY_BYTES));
        written.push(Buffer.alloc(0));
        const assertWhole = (log: BlockLog) => {
          assert.deepEqual(payloads(log), written);
          assert.deepEqual(payloads(log, positions[20]), written.slice(20));
          for (const [i, position] of positions.entries()) {
            const record = log.record(position);
            assert.deepEqual(record.payload, written[i]);
            assert.deepEqual(payloads(log, record.end), written.slice(i + 1));
          }
        };
        assert.ok(segments(directory) > 5);
        assertWhole(log);
        const end = log.end;
        log.close();
        const again = openBlockLog({ directory, segmentBytesMax: 1_000 });
        assert.deepEqual([again.end, again.cutBytes], [end, 0]);
        assertWhole(again);
        assert.deepEqual(again.check(), { bytes: end, faults: [] });
        again.close();
      }));

    test("read gives any bytes of a payload, fewer at the end of a segment", () =>
      withDirectory((directory) => {
        const log = openBlockLog({ directory });
        const position = log.append(payload(100));
        const at = position + RECORD_HEADER_LENGTH + 90;
        assert.deepEqual(log.read(at, 5), payload(100).subarray(90, 95));
        assert.deepEqual(log.read(at, 50), payload(100).subarray(90));
        assert.equal(log.read(log.end + 5, 10).length, 0);
        log.close();
      }));

    test("truncateTo forgets records and whole segments, and goes on from there", () =>
      withDirectory((directory) => {
        for (const kept of [0, 1, 7, 8, 19]) {
          const log = openBlockLog({ directory, segmentBytesMax: 500 });
          log.truncateTo(0);
          const written = Array.from({ length: 20 }, (_, i) => payload(100, i));
          const positions = written.map((bytes) => log.append(bytes));
          log.truncateTo(positions[kept]!);
          log.append(payload(33));
          const expected = [...written.slice(0, kept), payload(33)];
          assert.deepEqual(payloads(log), expected);
          log.close();
          const again = openBlockLog({ directory });
          assert.deepEqual(payloads(again), expected);
          again.close();
        }
      }));

    test("opening cuts a torn last record at whatever byte it ends, and nothing else", () =>
      withDirectory((directory) => {
        const log = openBlockLog({ directory });
        const first = log.append(payload(40));
        const last = log.append(payload(60));
        const end = log.end;
        log.close();
        for (let size = end - 1; size >= last; size--) {
          const file = directory.open(directory.list()[0]!);
          file.truncate(size);
          file.close();
          const cut = openBlockLog({ directory });
          assert.deepEqual(payloads(cut), [payload(40)]);
          assert.deepEqual([cut.cutBytes, cut.end], [size - last, last]);
          assert.equal(cut.append(payload(60)), last);
          cut.close();
        }
        assert.ok(first < last);
      }));

    test("opening drops a segment that was never begun in full", () =>
      withDirectory((directory) => {
        for (let size = 0; size <= SEGMENT_HEADER_LENGTH; size++) {
          const log = openBlockLog({ directory, segmentBytesMax: 10 });
          log.truncateTo(0);
          log.append(payload(5));
          log.append(payload(6));
          log.close();
          const file = directory.open(directory.list()[1]!);
          file.truncate(size);
          file.close();
          const again = openBlockLog({ directory });
          assert.deepEqual(payloads(again), [payload(5)]);
          again.append(payload(7));
          assert.deepEqual(payloads(again), [payload(5), payload(7)]);
          again.close();
        }
      }));
  });
}

describe("BlockLog", () => {
  /** A log of two full segments and one with three records, and where the records are. */
  function threeSegments() {
    const directory = createMemoryLogDirectory();
    const log = openBlockLog({ directory, segmentBytesMax: 400 });
    const positions = Array.from({ length: 11 }, (_, i) => log.append(payload(100, i)));
    assert.equal(segments(directory), 3);
    return { directory, log, positions };
  }

  test("a bit turned over anywhere is found by check, and never read as a record", () => {
    fc.assert(
      fc.property(fc.nat(2), fc.nat(), fc.nat(7), (index, place, bit) => {
        const { directory, log, positions } = threeSegments();
        const sizes = directory.list().map((name) => directory.open(name).size());
        const offset = SEGMENT_HEADER_LENGTH + (place % (sizes[index]! - SEGMENT_HEADER_LENGTH));
        flip(directory, index, offset, bit);
        assert.equal(log.check().faults.length, 1);
        let refused = 0;
        for (const [i, position] of positions.entries()) {
          try {
            assert.deepEqual(log.record(position).payload, payload(100, i));
          } catch (error) {
            assert.equal((error as { code?: string }).code, "STORE_CORRUPT_LOG");
            refused++;
          }
        }
        assert.equal(refused, 1);
        assert.throws(() => payloads(log), { code: "STORE_CORRUPT_LOG" });
      }),
    );
  });

  test("a long record is read with pauses, and refused with a bit turned over in any of its parts", () => {
    const directory = createMemoryLogDirectory();
    const log = openBlockLog({ directory });
    const lengths = [0, 1, 1 << 20, 3 << 20];
    const positions = lengths.map((length) => log.append(payload(length)));
    const read = (position: number) => {
      const reading = log.recordInParts(position);
      for (let pauses = 0; ; pauses++) {
        const next = reading.next();
        if (next.done) return { ...next.value, pauses };
      }
    };
    for (const [i, position] of positions.entries()) {
      const pauses = Math.ceil((RECORD_HEADER_LENGTH + lengths[i]!) / (1 << 20));
      assert.deepEqual(read(position), { ...log.record(position), pauses });
    }
    for (const offset of [0, 5, 9, 12, 1 << 20, 2 << 20, (3 << 20) + 11]) {
      flip(directory, 0, positions[3]! + offset);
      assert.throws(() => read(positions[3]!), { code: "STORE_CORRUPT_LOG" });
      flip(directory, 0, positions[3]! + offset);
    }
    assert.throws(() => read(log.end), { code: "STORE_CORRUPT_LOG" });
  });

  test("check shows the undamaged records behind a damaged one", () => {
    const { directory, log, positions } = threeSegments();
    flip(directory, 1, SEGMENT_HEADER_LENGTH + 5);
    const seen: number[] = [];
    const { faults } = log.check((record) => seen.push(record.position));
    assert.equal(faults.length, 1);
    assert.deepEqual(
      seen,
      positions.filter((position) => position !== faults[0]!.position),
    );
  });

  test("opening refuses a damaged record before an undamaged one, with its position", () => {
    const { directory, positions } = threeSegments();
    const base = directory.open(directory.list()[2]!).size();
    assert.ok(base > 0);
    const inLast = positions.filter((p) => p >= Number(directory.list()[2]!.slice(0, 16)));
    flip(directory, 2, SEGMENT_HEADER_LENGTH + RECORD_HEADER_LENGTH + 3);
    assert.throws(() => openBlockLog({ directory }), {
      code: "STORE_CORRUPT_LOG",
      details: { position: inLast[0], reason: "damaged record" },
    });
  });

  test("opening refuses a damaged last record that is known to have been whole", () => {
    const { directory, log, positions } = threeSegments();
    const durableEnd = log.end;
    flip(directory, -1, directory.open(directory.list().at(-1)!).size() - 1);
    const details = { position: positions.at(-1), reason: "damaged record" };
    assert.throws(() => openBlockLog({ directory, durableEnd }), {
      code: "STORE_CORRUPT_LOG",
      details,
    });
  });

  test("opening refuses a log that ends before it is known to", () => {
    const { directory, log, positions } = threeSegments();
    const durableEnd = log.end;
    log.truncateTo(positions[9]!);
    assert.throws(() => openBlockLog({ directory, durableEnd }), { code: "STORE_CORRUPT_LOG" });
    directory.remove(directory.list().at(-1)!);
    assert.throws(() => openBlockLog({ directory, durableEnd }), { code: "STORE_CORRUPT_LOG" });
  });

  test("opening refuses a missing, shortened or headless segment", () => {
    const missing = threeSegments().directory;
    missing.remove(missing.list()[1]!);
    assert.throws(() => openBlockLog({ directory: missing }), { code: "STORE_CORRUPT_LOG" });
    const short = threeSegments().directory;
    short.open(short.list()[0]!).truncate(300);
    assert.throws(() => openBlockLog({ directory: short }), { code: "STORE_CORRUPT_LOG" });
    for (let offset = 0; offset < SEGMENT_HEADER_LENGTH; offset++) {
      const { directory } = threeSegments();
      flip(directory, 1, offset);
      assert.throws(() => openBlockLog({ directory }), { code: "STORE_CORRUPT_LOG" });
    }
  });

  test("a valid record inside a torn payload does not pass for one of the log", () => {
    const directory = createMemoryLogDirectory();
    const log = openBlockLog({ directory });
    log.append(payload(10));
    const other = createMemoryLogDirectory();
    openBlockLog({ directory: other }).append(payload(20));
    const file = other.open(other.list()[0]!);
    const forged = Buffer.alloc(file.size());
    file.read(forged, 0);
    const position = log.append(Buffer.concat([forged, payload(50)]));
    log.close();
    const torn = directory.open(directory.list()[0]!);
    torn.truncate(torn.size() - 10);
    assert.equal(openBlockLog({ directory }).end, position);
  });

  test("a newer format is refused by name", () => {
    const { directory } = threeSegments();
    const file = directory.open(directory.list()[0]!);
    const header = Buffer.alloc(SEGMENT_HEADER_LENGTH);
    file.read(header, 0);
    file.write(newerFormat(header), 0);
    assert.throws(() => openBlockLog({ directory }), {
      code: "STORE_FORMAT_TOO_NEW",
      details: { what: "block log", found: 9, known: LOG_FORMAT },
    });
  });

  test("after a failed write the log is as before and takes the record again", () => {
    for (let failing = 0; failing < 12; failing++) {
      const disk = createFaultyDisk();
      const log = openBlockLog({ directory: disk.directory, segmentBytesMax: 250 });
      const written = [payload(100)];
      log.append(payload(100));
      disk.failWriteAfter(failing);
      for (let i = 0; i < 4; i++) {
        try {
          log.append(payload(90, i));
        } catch (error) {
          assert.equal((error as { code?: string }).code, "STORE_LOG_WRITE_FAILED");
          disk.heal();
          log.append(payload(90, i));
        }
        written.push(payload(90, i));
      }
      assert.deepEqual(payloads(log), written);
      assert.deepEqual(payloads(openBlockLog({ directory: disk.directory })), written);
    }
  });

  test("after a failed sync the log takes nothing more until it is opened again", () => {
    const disk = createFaultyDisk();
    const log = openBlockLog({ directory: disk.directory });
    log.append(payload(1));
    disk.failSync();
    assert.throws(() => log.append(payload(2)), { code: "STORE_LOG_POISONED" });
    disk.heal();
    assert.throws(() => log.append(payload(2)), { code: "STORE_LOG_POISONED" });
    assert.deepEqual(payloads(log), [payload(1)]);
  });

  test("a power cut leaves every record that was acknowledged, whatever was written of the rest", () => {
    fc.assert(
      fc.property(fc.nat(6), fc.nat(400), fc.infiniteStream(fc.nat(255)), (count, length, noise) => {
        const disk = createFaultyDisk();
        const log = openBlockLog({ directory: disk.directory, segmentBytesMax: 600 });
        const acknowledged: Buffer[] = [];
        for (let i = 0; i < count; i++) {
          log.append(payload(100, i));
          acknowledged.push(payload(100, i));
        }
        disk.failSync();
        assert.throws(() => log.append(payload(length)), { code: "STORE_LOG_POISONED" });
        // Each unsynced sector is the new or the old one, or was only extended: noise decides.
        const after = disk.powerCut(() => noise.next().value);
        const found = payloads(openBlockLog({ directory: after }));
        const withLast = [...acknowledged, payload(length)];
        assert.deepEqual(found, found.length > count ? withLast : acknowledged);
      }),
      { numRuns: 300 },
    );
  });
});

function newerFormat(header: Buffer): Uint8Array {
  const newer = Buffer.from(header);
  newer.writeUInt16LE(9, 6);
  newer.writeUInt32LE(crc32(newer.subarray(0, 20)), 20);
  return newer;
}

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openBlockLog } from "./block-log.ts";
import type { LogDirectory } from "./log-file.ts";
import { LogFollower } from "./log-follower.ts";
import { createMemoryLogDirectory } from "./memory-log-directory.ts";

/** Every record begins a segment. */
const SEGMENT_BYTES_MAX = 1;

/** A log of one record a segment, and a follower's view of its directory that counts what is open. */
function openLog() {
  const directory = createMemoryLogDirectory();
  const log = openBlockLog({ directory, segmentBytesMax: SEGMENT_BYTES_MAX });
  const open = new Set<string>();
  /** Called before a segment is opened. */
  let beforeOpen: (name: string) => void = () => {};
  const followed: Pick<LogDirectory, "list" | "open"> = {
    list: () => directory.list(),
    open(name) {
      beforeOpen(name);
      if (!directory.list().includes(name)) {
        throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      }
      const file = directory.open(name);
      assert.ok(!open.has(name), name);
      open.add(name);
      return {
        size: () => file.size(),
        write: file.write,
        truncate: file.truncate,
        sync: file.sync,
        read: (into, position) => file.read(into, position),
        close: () => void open.delete(name),
      };
    },
  };
  const positions: number[] = [];
  return {
    log,
    open,
    positions,
    follower: new LogFollower(followed),
    append(count: number) {
      for (let i = 0; i < count; i++) positions.push(log.append(Uint8Array.of(positions.length)));
    },
    onOpen(listener: (name: string) => void) {
      beforeOpen = listener;
    },
  };
}

describe("LogFollower", () => {
  test("dropBefore closes the segments that the writer has removed, and no other", () => {
    const { log, follower, positions, append, open } = openLog();
    for (let round = 0; round < 20; round++) {
      append(3);
      follower.extendTo(log.end);
      while (log.dropSegmentBefore(positions.at(-2)!));
      follower.dropBefore(log.start);
      assert.equal(open.size, 2);
      assert.deepEqual(
        [...follower.records(follower.start)].map(({ position }) => position),
        positions.slice(-2),
      );
    }
    follower.close();
    assert.equal(open.size, 0);
  });

  test("extendTo lists the segments again where one is removed before it is opened", () => {
    const { log, follower, positions, append, open, onOpen } = openLog();
    append(6);
    let opened = 0;
    // The writer is ahead of the follower at each of the first three.
    onOpen(() => {
      if (opened < 3) log.dropSegmentBefore(positions[++opened]!);
    });
    follower.extendTo(log.end);
    assert.deepEqual([opened, follower.start, follower.end], [3, log.start, log.end]);
    assert.equal(open.size, 3);
  });

  test("extendTo leaves no hole: what is before one is removed", () => {
    const { log, follower, positions, append, open } = openLog();
    append(2);
    follower.extendTo(log.end);
    const end = follower.end;
    append(5);
    while (log.dropSegmentBefore(positions[4]!));
    follower.extendTo(log.end);
    assert.ok(follower.start > end);
    assert.deepEqual([follower.start, open.size], [log.start, 3]);
    assert.equal(follower.recordAt(positions[0]!), undefined);
    assert.equal(follower.record(positions[4]!).payload[0], 4);
  });

  test("a listed segment that cannot be opened at all is an error", () => {
    const { log, follower, append, onOpen } = openLog();
    append(2);
    onOpen(() => {
      throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    });
    assert.throws(() => follower.extendTo(log.end), { code: "ENOENT" });
  });

  test("counts each read of a file, however it is read", () => {
    const { log, follower, positions, append } = openLog();
    append(3);
    follower.extendTo(log.end);
    const position = positions[0]!;
    const ways = [
      () => follower.record(position),
      () => follower.recordAt(position),
      () => follower.read(position, 1),
      () => Array.from(follower.recordInParts(position)),
    ];
    for (const read of ways) {
      const before = follower.reads;
      read();
      assert.ok(follower.reads > before);
    }
  });
});

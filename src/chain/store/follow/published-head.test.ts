import assert from "node:assert/strict";
import { mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { HeadFile, type HeadPosition, openHeadSource, PublishedHead } from "./published-head.ts";

const directory = mkdtempSync(join(tmpdir(), "evmint-head-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const HEADS: readonly HeadPosition[] = [
  { epoch: 0, number: -1, end: 0, mergedBlocks: 0, base: 0, stateBase: 0, logStart: 0 },
  { epoch: 0, number: 0, end: 700, mergedBlocks: 0, base: 0, stateBase: 0, logStart: 0 },
  {
    epoch: 3,
    number: 20_000_000,
    end: 2 ** 41 + 1,
    mergedBlocks: 19_999_999,
    base: 7,
    stateBase: 19_999_000,
    logStart: 2 ** 40 + 3,
  },
];

test("readers of a head file and of the shared head see what was published last", () => {
  const path = join(directory, "head");
  const writer = HeadFile.create(path);
  const shared = new PublishedHead();
  const readers = [path, shared.buffer].map((head) => openHeadSource({ directory, head }));
  for (const head of HEADS) {
    writer.publish(head);
    shared.publish(head);
    for (const reader of readers) assert.deepEqual(reader.read(), head);
  }
  for (const source of [writer, ...readers]) source.close();
});

test("a head file that is created again is empty until something is published", () => {
  const path = join(directory, "again");
  const first = HeadFile.create(path);
  first.publish(HEADS[2]!);
  const second = HeadFile.create(path);
  second.publish(HEADS[1]!);
  const reader = HeadFile.open(path);
  assert.deepEqual(reader.read(), HEADS[1]);
  for (const source of [first, second, reader]) source.close();
});

test("a half-written head is never read, whichever of its values are old", () => {
  const path = join(directory, "torn");
  const writer = HeadFile.create(path);
  const reader = HeadFile.open(path);
  const bytesOf = (head: HeadPosition): Uint8Array => {
    writer.publish(head);
    return readFileSync(path);
  };
  const [, old, next] = HEADS.map(bytesOf);
  const file = openSync(path, "r+");
  // Each read of such a head takes the time in which a writer would have ended.
  const masks = Array.from({ length: 8 }, (_, value) => 1 << value);
  for (const mixed of [...masks, ...masks.map((mask) => 255 - mask), 0b01010101, 0b00001111]) {
    for (let value = 0; value < 8; value++) {
      const from = mixed & (1 << value) ? next! : old!;
      writeSync(file, from, value * 8, 8, value * 8);
    }
    assert.throws(() => reader.read(), { name: "InvariantError" });
  }
  for (const source of [writer, reader]) source.close();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Disk, FileError, type FileNode, OpenFile } from "./disk.ts";
import { Random } from "./random.ts";

const SYNCED = Buffer.alloc(700, 1);
const WRITTEN = Buffer.alloc(2_000, 2);

function diskWithFile(seed: string) {
  const disk = new Disk(new Random(seed), () => 0);
  disk.makeDirectory("/home/a", 0o700);
  disk.syncNames();
  return { disk, file: disk.createFile("/home/a/log", 0o600) };
}

test("after a power cut what was synced is there, and of the rest any sectors", () => {
  const sizes = new Set<number>();
  for (let seed = 0; seed < 200; seed++) {
    const { disk, file } = diskWithFile(String(seed));
    disk.write(file, SYNCED, 0);
    disk.sync(file);
    disk.syncNames();
    disk.write(file, WRITTEN, SYNCED.length);
    disk.powerCut();
    const left = (disk.find("/home/a/log") as FileNode).content.bytes();
    assert.ok(left.subarray(0, SYNCED.length).equals(SYNCED));
    sizes.add(left.length);
  }
  assert.ok(sizes.has(SYNCED.length) && sizes.has(SYNCED.length + WRITTEN.length), "nothing, and all");
  assert.ok(sizes.size > 3, "and torn writes");
});

test("a name whose folder was not synced can be lost with all that came after it", () => {
  const found = new Set<boolean>();
  for (let seed = 0; seed < 50; seed++) {
    const { disk, file } = diskWithFile(String(seed));
    disk.write(file, SYNCED, 0);
    disk.sync(file);
    disk.powerCut();
    found.add(disk.find("/home/a/log") !== undefined);
  }
  assert.deepEqual([...found].sort(), [false, true]);
});

test("a full disk rejects what makes a file longer, and nothing else", () => {
  const { disk, file } = diskWithFile("full");
  disk.write(file, SYNCED, 0);
  disk.faults.capacity = disk.usedBytes();
  disk.write(file, SYNCED.subarray(0, 100), 0);
  assert.throws(
    () => disk.write(file, SYNCED, 100),
    (error) => error instanceof FileError && error.code === "ENOSPC",
  );
});

test("a removed file takes its space until nobody has it open", () => {
  const { disk, file } = diskWithFile("removed");
  disk.write(file, SYNCED, 0);
  const open = new OpenFile(file, false);
  const used = disk.usedBytes();
  disk.remove("/home/a/log");
  assert.equal(disk.usedBytes(), used);
  assert.equal(disk.unlinkedBytes(), SYNCED.length);
  open.close();
  assert.equal(disk.unlinkedBytes(), 0);
});

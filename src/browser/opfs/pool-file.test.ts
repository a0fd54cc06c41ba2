import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import type { SyncAccessHandle } from "../web.ts";
import { type FileName, PoolFile } from "./pool-file.ts";

/** A handle in memory. A write that a crash cuts leaves `cutAt` bytes of it. */
class MemoryHandle implements SyncAccessHandle {
  bytes = new Uint8Array(0);
  cutAt = Number.POSITIVE_INFINITY;

  getSize = () => this.bytes.length;

  read(into: Uint8Array, { at }: { readonly at: number }): number {
    const part = this.bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  }

  write(whole: Uint8Array, { at }: { readonly at: number }): number {
    const bytes = whole.subarray(0, this.cutAt);
    if (bytes.length > 0 && this.bytes.length < at + bytes.length) this.truncate(at + bytes.length);
    this.bytes.set(bytes, at);
    return bytes.length;
  }

  truncate(size: number): void {
    const resized = new Uint8Array(size);
    resized.set(this.bytes.subarray(0, size));
    this.bytes = resized;
  }

  flush(): void {}
  close(): void {}
}

const HEADER_BYTES = 4_096;
const fileName = fc.record(
  { path: fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), generation: fc.nat() },
  { noNullPrototype: true },
);
const content = fc.uint8Array({ minLength: 1, maxLength: 100 });

function open(handle: MemoryHandle): PoolFile {
  return new PoolFile(handle, () => {});
}

/** Writes the header `next`, of which the first `cutAt` bytes are on the device. */
function cutRename(handle: MemoryHandle, next: FileName, cutAt: number): void {
  handle.cutAt = cutAt;
  const change = () => open(handle).setName(next);
  if (cutAt < HEADER_BYTES) assert.throws(change, { code: "ENOSPC" });
  else change();
  handle.cutAt = Number.POSITIVE_INFINITY;
}

test("a file has the name and content it was given", () => {
  fc.assert(
    fc.property(fileName, content, (name, bytes) => {
      const handle = new MemoryHandle();
      open(handle).setName(name);
      open(handle).write(bytes, 0);
      const file = open(handle);
      const read = new Uint8Array(bytes.length);
      assert.deepEqual(file.name(), name);
      assert.equal(file.size(), bytes.length);
      assert.equal(file.read(read, 0), bytes.length);
      assert.deepEqual(read, bytes);
    }),
  );
});

test("a new file whose header was cut is free", () => {
  fc.assert(
    fc.property(fileName, fc.nat(HEADER_BYTES - 1), (name, cutAt) => {
      const handle = new MemoryHandle();
      cutRename(handle, name, cutAt);
      assert.equal(open(handle).name(), undefined);
    }),
  );
});

test("a file whose rename was cut has its old name, its new one or none, and its content", () => {
  fc.assert(
    fc.property(fileName, fileName, content, fc.nat(HEADER_BYTES), (before, next, bytes, cutAt) => {
      const handle = new MemoryHandle();
      open(handle).setName(before);
      open(handle).write(bytes, 0);
      cutRename(handle, next, cutAt);
      const found = open(handle).name();
      const possible = [undefined, before, next].map((name) => JSON.stringify(name));
      assert.ok(possible.includes(JSON.stringify(found)), JSON.stringify(found));
      if (cutAt === HEADER_BYTES) assert.deepEqual(found, next);
      const read = new Uint8Array(bytes.length);
      open(handle).read(read, 0);
      assert.deepEqual(read, bytes);
    }),
  );
});

test("a header with a changed bit is no name", () => {
  fc.assert(
    fc.property(fileName, fc.nat(), fc.nat(7), (name, position, bit) => {
      const handle = new MemoryHandle();
      open(handle).setName(name);
      const used = 22 + Buffer.byteLength(name.path);
      handle.bytes[position % used]! ^= 1 << bit;
      assert.equal(open(handle).name(), undefined);
    }),
  );
});

test("an unlinked file is free, and keeps its content until it is cleared", () => {
  const handle = new MemoryHandle();
  const file = open(handle);
  file.setName({ path: "data/log/1", generation: 3 });
  file.write(Uint8Array.of(1, 2, 3), 0);
  file.clearName();
  assert.equal(open(handle).name(), undefined);
  assert.equal(file.size(), 3);
  file.clear();
  assert.equal(file.size(), 0);
});

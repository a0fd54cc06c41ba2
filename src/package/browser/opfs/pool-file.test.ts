import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
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

const fileName = fc.record(
  { path: fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), generation: fc.nat() },
  { noNullPrototype: true },
);
const content = fc.uint8Array({ minLength: 1, maxLength: 100 });
/** Of a write that is on the device. */
const share = fc.nat(20).map((twentieths) => twentieths / 20);

function open(handle: MemoryHandle): PoolFile {
  return new PoolFile(handle, () => {});
}

/** Of the slot of a name. */
function slotBytes({ path }: Pick<FileName, "path">): number {
  return 22 + Buffer.byteLength(path);
}

/** Writes a slot by `change`, of which the first `share` of `bytes` bytes are on the device. */
function cut(handle: MemoryHandle, share: number, bytes: number, change: () => void): void {
  handle.cutAt = Math.floor(share * bytes);
  if (share < 1) assert.throws(change, { code: "ENOSPC" });
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

test("a new file whose first name was cut is free", () => {
  fc.assert(
    fc.property(fileName, share, (name, written) => {
      const handle = new MemoryHandle();
      cut(handle, written, slotBytes(name), () => open(handle).setName(name));
      assert.deepEqual(open(handle).name(), written < 1 ? undefined : name);
    }),
  );
});

/** Names one after the other, with rising generations. */
const names = fc
  .uniqueArray(fileName, { minLength: 2, maxLength: 5, selector: ({ generation }) => generation })
  .map((unordered) => unordered.sort((a, b) => a.generation - b.generation));

test("a file whose rename was cut has its old name, or its new one when that is whole, and its content", () => {
  fc.assert(
    fc.property(names, content, share, (all, bytes, written) => {
      const handle = new MemoryHandle();
      const [before, next] = [all.at(-2)!, all.at(-1)!];
      for (const name of all.slice(0, -1)) open(handle).setName(name);
      open(handle).write(bytes, 0);
      cut(handle, written, slotBytes(next), () => open(handle).setName(next));
      assert.deepEqual(open(handle).name(), written < 1 ? before : next);
      const read = new Uint8Array(bytes.length);
      open(handle).read(read, 0);
      assert.deepEqual(read, bytes);
    }),
  );
});

test("a file whose unlink was cut has its last name or is free, and never a name it had before", () => {
  fc.assert(
    fc.property(names, share, (all, written) => {
      const handle = new MemoryHandle();
      for (const name of all) open(handle).setName(name);
      cut(handle, written, slotBytes({ path: "" }), () => open(handle).clearName());
      assert.deepEqual(open(handle).name(), written < 1 ? all.at(-1) : undefined);
    }),
  );
});

test("a slot with a changed bit is no name", () => {
  fc.assert(
    fc.property(fileName, fc.nat(), fc.nat(7), (name, position, bit) => {
      const handle = new MemoryHandle();
      open(handle).setName(name);
      handle.bytes[position % slotBytes(name)]! ^= 1 << bit;
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

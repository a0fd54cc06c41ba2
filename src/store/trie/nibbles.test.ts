import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import {
  hexPrefixLength,
  isLeafPath,
  isLeafPathOf,
  nibblesOf,
  packNibbles,
  readHexPrefix,
  writeHexPrefix,
} from "./nibbles.ts";

function pack(nibbles: readonly number[], isLeaf: boolean): number[] {
  const out = new Uint8Array(hexPrefixLength(nibbles.length));
  assert.equal(writeHexPrefix(Uint8Array.from(nibbles), isLeaf, out, 0), out.length);
  return [...out];
}

test("writeHexPrefix gives the four forms of Yellow Paper, appendix C", () => {
  assert.deepEqual(pack([1, 2, 3, 4, 5], false), [0x11, 0x23, 0x45]);
  assert.deepEqual(pack([0, 1, 2, 3, 4, 5], false), [0x00, 0x01, 0x23, 0x45]);
  assert.deepEqual(pack([15, 1, 12, 11, 8], true), [0x3f, 0x1c, 0xb8]);
  assert.deepEqual(pack([0, 15, 1, 12, 11, 8], true), [0x20, 0x0f, 0x1c, 0xb8]);
  assert.deepEqual(pack([], true), [0x20]);
});

test("readHexPrefix undoes writeHexPrefix", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(15)), fc.boolean(), (nibbles, isLeaf) => {
      const packed = Uint8Array.from(pack(nibbles, isLeaf));
      assert.deepEqual([...readHexPrefix(packed)], nibbles);
      assert.equal(isLeafPath(packed), isLeaf);
    }),
  );
});

test("packNibbles undoes nibblesOf", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      assert.deepEqual(packNibbles(nibblesOf(bytes)), bytes);
    }),
  );
});

test("isLeafPathOf recognises the path of a leaf that is made of nibbles", () => {
  const key = fc.uint8Array({ minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(key, fc.nat(80), fc.nat(), (key, nibbles, flip) => {
      const depth = nibbles % (key.length * 2 + 1);
      const expected = Uint8Array.from(pack([...nibblesOf(key, depth)], true));
      const out = new Uint8Array(expected.length + 3).fill(9);
      out.set(expected, 2);
      const start = expected.length === 1 ? 2 : 1;
      if (start === 1) out[1] = 0x80 + expected.length;
      assert.ok(isLeafPathOf(key, depth, out, start, out.length - 1));
      assert.ok(!isLeafPathOf(key, depth, out, start, out.length));
      out[2 + (flip % expected.length)]! ^= 1;
      assert.ok(!isLeafPathOf(key, depth, out, start, out.length - 1));
    }),
  );
});

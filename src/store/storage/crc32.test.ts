import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "../../../test/support/fast-check.ts";
import { crc32Of, extendCrc32 } from "./crc32.ts";

test("crc32 of a part of some bytes is zlib's, whole and continued", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), fc.nat(200), (bytes, a, b) => {
      const [start, end] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)];
      const part = bytes.subarray(start, end);
      assert.equal(crc32Of(bytes, start, end), crc32(part));
      const seed = crc32(bytes);
      assert.equal(extendCrc32(seed, bytes, start, end), part.length === 0 ? seed : crc32(part, seed));
    }),
  );
});

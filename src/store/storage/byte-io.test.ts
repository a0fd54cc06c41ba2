import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { hexDigits } from "../../base/primitives/hex.ts";
import { ByteReader, ByteWriter } from "./byte-io.ts";

test("ByteReader gives back what ByteWriter took, in order", () => {
  const hex = fc.uint8Array({ maxLength: 40 }).map((b) => Buffer.from(b).toString("hex"));
  const item = fc.oneof(
    fc.record({ varint: fc.maxSafeNat() }),
    fc.record({ byte: fc.nat(255) }),
    fc.record({ u32: fc.nat(2 ** 32 - 1) }),
    fc.record({ bigint: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) }),
    fc.record({ bigint: fc.bigInt({ min: 0n, max: 2n ** 50n }) }),
    fc.record({ block: fc.uint8Array({ maxLength: 400 }) }),
    fc.record({ hex }),
  );
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const writer = new ByteWriter(4);
      for (const item of items) {
        if ("varint" in item) writer.varint(item.varint);
        else if ("byte" in item) writer.byte(item.byte);
        else if ("u32" in item) writer.u32(item.u32);
        else if ("bigint" in item) writer.bigint(item.bigint);
        else if ("block" in item) writer.block(item.block);
        else writer.hex(`0x${item.hex}`);
      }
      const bytes = writer.finish();
      const reader = new ByteReader(bytes);
      for (const item of items) {
        if ("varint" in item) assert.equal(reader.varint(), item.varint);
        else if ("byte" in item) assert.equal(reader.byte(), item.byte);
        else if ("u32" in item) assert.equal(reader.u32(), item.u32);
        else if ("bigint" in item) assert.equal(reader.bigint(), item.bigint);
        else if ("block" in item) assert.deepEqual(Uint8Array.from(reader.block()), item.block);
        else assert.equal(reader.hex(item.hex.length / 2), `0x${item.hex}`);
      }
      assert.ok(reader.atEnd);
      if (bytes.length > 0) {
        const short = new ByteReader(bytes.subarray(0, -1));
        assert.throws(() => short.bytes(bytes.length), { code: "STORE_MALFORMED_BYTES" });
      }
    }),
  );
});

test("ByteReader rejects a varint beyond the safe integers and input that ends inside an item", () => {
  const code = "STORE_MALFORMED_BYTES";
  assert.throws(() => new ByteReader(new Uint8Array(9).fill(0xff)).varint(), { code });
  assert.throws(() => new ByteReader(Uint8Array.of(0x80)).varint(), { code });
  assert.throws(() => new ByteReader(Uint8Array.of(3, 1, 2)).bigint(), { code });
  assert.throws(() => new ByteReader(Uint8Array.of(3, 1, 2)).block(), { code });
  assert.throws(() => new ByteReader(Uint8Array.of(1, 2, 3)).u32(), { code });
});

test("ByteWriter writes an integer of any size big-endian, as long as it must be", () => {
  for (let bits = 0n; bits <= 256n; bits++) {
    for (const value of [2n ** bits - 1n, 2n ** bits, 2n ** bits + 255n]) {
      const digits = value === 0n ? "" : value.toString(16);
      const expected = digits.padStart(digits.length + (digits.length % 2), "0");
      const sized = new ByteWriter(1);
      sized.bigint(value);
      const length = (expected.length / 2).toString(16).padStart(2, "0");
      assert.equal(hexDigits(sized.finish()), length + expected);
      const unsized = new ByteWriter(1);
      unsized.bigint(value, false);
      assert.equal(hexDigits(unsized.finish()), expected);
    }
  }
});

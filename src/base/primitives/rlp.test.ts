import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { fixture, jsonFiles, skipWithout } from "../../../test/support/fixtures.ts";
import { bigintToBytes } from "./bytes.ts";
import { bytesToHex, hexToBytes } from "./hex.ts";
import {
  decodeRlp,
  decodeRlpAt,
  encodedLength,
  encodeRlp,
  encodeRlpListOf,
  InvalidRlpError,
  type RlpItem,
  rlpItemEnd,
  rlpListBounds,
} from "./rlp.ts";

const items: fc.Arbitrary<RlpItem> = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof({ maxDepth: 4 }, fc.uint8Array({ maxLength: 70 }), fc.array(tie("item"), { maxLength: 8 })),
})).item;

test("decodeRlp inverts encodeRlp", () => {
  fc.assert(
    fc.property(items, (item) => {
      const bytes = encodeRlp(item);
      assert.equal(bytes.length, encodedLength(item));
      assert.deepEqual(decodeRlp(bytes), item);
      assert.equal(rlpItemEnd(bytes, 0), bytes.length);
    }),
  );
});

test("decodeRlp answers random bytes with their only item or INVALID_RLP", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      let item: RlpItem;
      try {
        item = decodeRlp(bytes);
      } catch (error) {
        assert.ok(error instanceof InvalidRlpError);
        return;
      }
      assert.deepEqual(encodeRlp(item), bytes);
    }),
    { numRuns: 2000 },
  );
});

test("encodeRlp writes long strings and lists of every length of length", () => {
  for (const length of [55, 56, 255, 256, 65_535, 65_536, 16_777_216]) {
    const bytes = encodeRlp([new Uint8Array(length)]);
    assert.equal(((decodeRlp(bytes) as RlpItem[])[0] as Uint8Array).length, length);
  }
});

test("encodeRlpListOf puts encoded items into a list", () => {
  const parts = [Uint8Array.of(1), new Uint8Array(60), []];
  assert.deepEqual(encodeRlpListOf(parts.map(encodeRlp)), encodeRlp(parts));
});

test("decodeRlpAt reads one item of many and says where it ends", () => {
  const bytes = hexToBytes("0x83646f67c20102");
  assert.deepEqual(decodeRlpAt(bytes, 0), { item: Uint8Array.of(0x64, 0x6f, 0x67), end: 4 });
  assert.equal(decodeRlpAt(bytes, 4).end, 7);
  assert.deepEqual(rlpListBounds(bytes, 4), { start: 5, end: 7 });
  assert.throws(() => rlpListBounds(bytes, 0), { code: "INVALID_RLP" });
});

test("decodeRlp rejects lists nested without end", () => {
  const bytes = new Uint8Array(100_000).fill(0xc1);
  assert.throws(() => decodeRlp(bytes), { code: "INVALID_RLP" });
});

const vectors = fixture("ethereum-tests", "RLPTests");

test("official RLP vectors", { skip: skipWithout(vectors, "ethereum-tests/RLPTests") }, () => {
  let checked = 0;
  for (const file of jsonFiles(vectors!)) {
    const cases = JSON.parse(readFileSync(file, "utf8")) as Record<string, { in: unknown; out: string }>;
    for (const [name, { in: input, out }] of Object.entries(cases)) {
      checked++;
      const bytes = hexToBytes(out.startsWith("0x") ? out : `0x${out}`);
      if (input === "INVALID") {
        assert.throws(() => decodeRlp(bytes), { code: "INVALID_RLP" }, name);
        continue;
      }
      assert.equal(bytesToHex(encodeRlp(decodeRlp(bytes))), bytesToHex(bytes), name);
      if (input !== "VALID") assert.deepEqual(decodeRlp(bytes), itemOf(input), name);
    }
  }
  assert.ok(checked > 50);
});

/** The item a vector writes as JSON: text, number, `#` and a decimal integer, or a list. */
function itemOf(json: unknown): RlpItem {
  if (Array.isArray(json)) return json.map(itemOf);
  if (typeof json === "number") return bigintToBytes(BigInt(json));
  const text = String(json);
  if (text.startsWith("#")) return bigintToBytes(BigInt(text.slice(1)));
  return new Uint8Array(Buffer.from(text, "utf8"));
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { encodeRlp } from "../../../base/primitives/rlp.ts";
import { CHILD_VERSION, NodeVersions, wholeVersion } from "./node-version.ts";

/** Nothing, a hash, or a node that is so short that it is in its parent. */
const child = fc.oneof(
  { weight: 3, arbitrary: fc.constant(new Uint8Array(0)) },
  { weight: 5, arbitrary: fc.uint8Array({ minLength: 32, maxLength: 32 }) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 2, maxLength: 9 }).map((path) => [path, path]) },
);
const branch = fc.array(child, { minLength: 16, maxLength: 16 });
const rlpOf = (children: readonly unknown[]) =>
  encodeRlp([...children, new Uint8Array(0)] as Parameters<typeof encodeRlp>[0]);

test("a version has the children that differ, or the whole node where they are many", () => {
  const versions = new NodeVersions();
  fc.assert(
    fc.property(
      branch,
      branch,
      fc.array(fc.nat(15), { maxLength: 24 }),
      fc.nat(255),
      fc.boolean(),
      (before, others, changes, first, hasChildVersions) => {
        const after = before.map((old, n) => (changes.includes(n) ? others[n]! : old));
        const rlp = rlpOf(after);
        const hash = new Uint8Array(32).fill(first);
        const references = after.map((item) => (Array.isArray(item) ? encodeRlp(item) : item));
        const changed = after.flatMap((item, n) => {
          const old = Buffer.from(encodeRlp(before[n]!));
          return old.equals(encodeRlp(item)) ? [] : [n];
        });
        const parts = changed.map((n) =>
          hasChildVersions && references[n]!.length === 32
            ? Buffer.from([CHILD_VERSION])
            : Buffer.from([references[n]!.length, ...references[n]!]),
        );
        const bits = changed.reduce((sum, n) => sum | (1 << n), 0);
        const isWhole = first % 64 === 0 || changed.length === 0 || (changed.length > 14 && !hasChildVersions);
        const expected = isWhole ? wholeVersion(rlp) : Buffer.concat([Buffer.from([bits & 255, bits >> 8]), ...parts]);
        assert.deepEqual(Array.from(versions.encode(rlp, hash, rlpOf(before), hasChildVersions)), Array.from(expected));
      },
    ),
  );
});

test("a leaf, a node whose version before is not known and a trie that became empty are whole", () => {
  const versions = new NodeVersions();
  const hash = new Uint8Array(32).fill(1);
  const leaf = encodeRlp([Uint8Array.of(0x20, 1), Uint8Array.of(7)]);
  const whole = rlpOf(Array.from({ length: 16 }, () => hash));
  for (const [rlp, before] of [
    [leaf, whole],
    [whole, leaf],
    [whole, undefined],
    [new Uint8Array(0), whole],
  ] as const) {
    assert.deepEqual(versions.encode(rlp, hash, before, false), Uint8Array.from([0, 0, ...rlp]));
  }
});

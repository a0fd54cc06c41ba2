import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { COLUMNS, NodeBatch, PLACE, SHORT_PATH } from "./node-batch.ts";

const owner = keccak256(Uint8Array.of(1));
const nodeOf = (n: number) => new Uint8Array(33 + (n % 600)).fill(n & 255);
const pathOf = (n: number) => Uint8Array.from({ length: n % 64 }, (_, i) => (n + i) % 16);

test("a batch has what was added and replaced, in order, over many chunks", () => {
  const batch = new NodeBatch();
  for (let n = 0; n < 3_000; n++) {
    const path = pathOf(n);
    if (n % 3 === 0) batch.note(owner, path, path.length, keccak256(nodeOf(n)));
    else {
      const hash = batch.add(owner, path, path.length, nodeOf(n), nodeOf(n).length);
      assert.deepEqual(Buffer.from(hash), Buffer.from(keccak256(nodeOf(n))));
    }
  }
  assert.equal(batch.size, 3_000);
  for (let n = 0; n < 3_000; n++) {
    assert.equal(batch.isReplaced(n), n % 3 === 0);
    assert.deepEqual(Buffer.from(batch.path(n)), Buffer.from(pathOf(n)));
    assert.ok(batch.hasHash(n, keccak256(nodeOf(n))));
    const rlp = n % 3 === 0 ? new Uint8Array(0) : nodeOf(n);
    assert.deepEqual(Buffer.from(batch.rlp(n)), Buffer.from(rlp));
  }
  assert.equal([...batch].length, 2_000);
});

test("append shares entries without mixing them up", () => {
  const [first, second] = [new NodeBatch(), new NodeBatch()];
  first.add(owner, pathOf(3), 3, nodeOf(1), nodeOf(1).length);
  second.add(owner, pathOf(5), 5, nodeOf(2), nodeOf(2).length);
  second.add(new Uint8Array(0), pathOf(3), 3, nodeOf(3), nodeOf(3).length);
  first.append(second);
  first.add(owner, pathOf(5), 5, nodeOf(4), nodeOf(4).length);
  assert.deepEqual(
    [0, 1, 2, 3].map((n) => first.rlp(n)[0]),
    [1, 2, 3, 4],
  );
  assert.ok(first.isSamePlace(1, 3));
  const [same, again, other] = [1, 3, 2].map((n) => first.columns[n * COLUMNS + PLACE]);
  assert.equal(same, again);
  assert.notEqual(same, other);
  assert.ok(!first.isSamePlace(0, 2));
  assert.ok(!first.isSamePlace(0, 1));
});

test("SHORT_PATH has a number of its own for each path of up to two nibbles", () => {
  const nibbles = Array.from({ length: 16 }, (_, n) => n);
  const paths = [[], ...nibbles.map((n) => [n]), ...nibbles.flatMap((a) => nibbles.map((b) => [a, b]))];
  const batch = new NodeBatch();
  for (const path of paths) batch.note(owner, Uint8Array.from(path), path.length, keccak256(nodeOf(1)));
  const numbers = new Set(paths.map((_, entry) => batch.columns[entry * COLUMNS + SHORT_PATH]));
  assert.equal(numbers.size, paths.length);
});

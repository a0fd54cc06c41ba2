import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { historyPaths } from "../nodes/node-history.ts";
import { HistoryPlaces } from "./prune-batches.ts";

const textOf = (owner: Uint8Array, path: Uint8Array) => `${Buffer.from(owner).toString("hex")} ${path.join(",")}`;

test("the places on the way to keys come once each, whatever keys are added", () => {
  const owners = [EMPTY_BYTES, keccak256(Uint8Array.of(1)), keccak256(Uint8Array.of(2))];
  for (const count of [0, 1, 2, 40, 3_000]) {
    const places = new HistoryPlaces();
    const expected = new Set<string>();
    for (let i = 0; i < count; i++) {
      const owner = owners[i % owners.length]!;
      const key = keccak256(Buffer.from(`key ${i}`));
      places.add(owner, key);
      for (const path of historyPaths(key)) expected.add(textOf(owner, path));
    }
    const found = Array.from(places.all(), ({ owner, path }) => textOf(owner, path));
    assert.equal(found.length, expected.size);
    assert.deepEqual(new Set(found), expected);
  }
});

test("a trie has all places once every first byte was added", () => {
  const places = new HistoryPlaces();
  for (let first = 0; first < 256; first++) {
    assert.equal(places.hasAll(EMPTY_BYTES), false);
    places.add(EMPTY_BYTES, Uint8Array.of(first));
  }
  assert.equal(places.hasAll(EMPTY_BYTES), true);
  assert.equal(Array.from(places.all()).length, 1 + 16 + 256);
});

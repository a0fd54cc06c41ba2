import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { UNHASHED_LENGTH_MAX, UnhashedNodes } from "./unhashed-nodes.ts";

type Stored = { readonly depth: number; readonly hash: Uint8Array; readonly rlp: Uint8Array };

/** A chain of nodes, each of which refers to the one added before it from its first bytes, with leaves of several lengths beside it. */
function chainOf(nodes: UnhashedNodes, count: number): void {
  const path = new Uint8Array(128);
  for (let i = 0; i < count; i++) {
    const depth = 127 - 2 * i;
    const leaf = nodes.add(path, depth, 32 + ((i * 131) % (UNHASHED_LENGTH_MAX - 31)));
    nodes.bytes[leaf] = i;
    const start = nodes.add(path, depth - 1, 300 + i);
    nodes.bytes.fill(i, start, start + 300 + i);
    nodes.refer(nodes.count - 2, start + 40);
    if (i > 0) nodes.refer(nodes.count - 3, start);
  }
}

function hashed(nodes: UnhashedNodes, first = 0): Stored[] {
  const stored: Stored[] = [];
  nodes.hash(first, (bytes, pathStart, depth, length) => {
    const at = pathStart + depth;
    const rlp = bytes.slice(at + 32, at + 32 + length);
    stored.push({ depth, hash: bytes.slice(at, at + 32), rlp });
  });
  return stored;
}

test("each node gets its hash after the nodes it refers to, in the order in which they came", () => {
  for (const count of [1, 3, 40]) {
    const nodes = new UnhashedNodes();
    chainOf(nodes, count);
    const stored = hashed(nodes);
    assert.equal(stored.length, 2 * count);
    for (const [i, { hash, rlp }] of stored.entries()) {
      assert.deepEqual(hash, keccak256(rlp));
      if (i % 2 === 0) continue;
      assert.deepEqual(rlp.slice(40, 72), stored[i - 1]!.hash);
      if (i > 1) assert.deepEqual(rlp.slice(0, 32), stored[i - 2]!.hash);
    }
    assert.equal(nodes.count, 0);
  }
});

test("an update within another one hashes and removes its own nodes", () => {
  const nodes = new UnhashedNodes();
  chainOf(nodes, 5);
  const outer = nodes.count;
  chainOf(nodes, 7);
  assert.equal(hashed(nodes, outer).length, 14);
  assert.equal(nodes.count, outer);
  assert.ok(hashed(nodes).every(({ hash, rlp }) => Buffer.compare(hash, keccak256(rlp)) === 0));
});

test("full memory still has room for the branch that is being closed, and is used again", () => {
  const nodes = new UnhashedNodes();
  const path = new Uint8Array(128);
  for (let turn = 0; turn < 2; turn++) {
    let count = 0;
    for (; !nodes.isFull; count++) nodes.add(path, 128, UNHASHED_LENGTH_MAX);
    for (let i = 0; i < 17; i++) nodes.add(path, 128, UNHASHED_LENGTH_MAX);
    assert.equal(hashed(nodes).length, count + 17);
    assert.equal(nodes.isFull, false);
  }
});

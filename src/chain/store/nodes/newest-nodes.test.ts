import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import { NewestNodes } from "./newest-nodes.ts";
import { PendingNodes, type WaitingNodes } from "./pending-nodes.ts";

/** What becomes of the place number `place` of a trie: a node of so many bytes, or none. Places 0 and 1 are the roots. */
const change = fc.record({
  place: fc.nat(700),
  length: fc.option(fc.integer({ min: 1, max: 532 }), { nil: undefined }),
});
const blocks = fc.array(fc.array(change, { maxLength: 200 }), { maxLength: 12 });

function keyOf(place: number) {
  const path = place < 2 ? new Uint8Array(0) : Uint8Array.of(place >> 8, (place >> 4) & 15, (place >> 1) & 7);
  return { owner: place % 2 === 0 ? new Uint8Array(0) : new Uint8Array(32).fill(7), path };
}

function nodeOf(place: number, length: number): Uint8Array {
  const rlp = new Uint8Array(length).fill(place);
  rlp[0] = 1 + (length & 127);
  return rlp;
}

/** As an update does: the node that is replaced, and then the new one. */
function batchOf(changes: readonly { readonly place: number; readonly length: number | undefined }[]): NodeBatch {
  const batch = new NodeBatch();
  for (const { place, length } of changes) {
    const { owner, path } = keyOf(place);
    batch.note(owner, path, path.length, new Uint8Array(32));
    if (length !== undefined) batch.add(owner, path, path.length, nodeOf(place, length), length);
  }
  return batch;
}

/** The rows that a merge would write, in their order. */
function rowsOf(nodes: WaitingNodes): readonly string[] {
  return Array.from(nodes.sortedPlaces(), (place) => {
    const { owner, path, newest } = nodes.node(place);
    const node = newest && `${bytesToHex(newest.hash)} ${bytesToHex(newest.rlp)}`;
    return `${bytesToHex(owner)} ${bytesToHex(path)} ${node}`;
  });
}

test("NewestNodes gives a merge the same nodes as all pending ones", () => {
  fc.assert(
    fc.property(blocks, (blocks) => {
      const newest = new NewestNodes();
      const pending = new PendingNodes();
      for (const [number, changes] of blocks.entries()) {
        newest.add(number, batchOf(changes));
        pending.add(number, batchOf(changes));
      }
      assert.equal(newest.places, pending.places);
      assert.deepEqual([...rowsOf(newest)].sort(), [...rowsOf(pending)].sort());
    }),
  );
});

test("NewestNodes finds the newest node of a place by its hash, and no replaced or removed one", () => {
  fc.assert(
    fc.property(blocks, (blocks) => {
      const newest = new NewestNodes();
      for (const [number, changes] of blocks.entries()) newest.add(number, batchOf(changes));
      for (const { place, length } of blocks.flat()) {
        if (length === undefined) continue;
        const { owner, path } = keyOf(place);
        const rlp = nodeOf(place, length);
        const found = newest.find(owner, path, keccak256(rlp));
        const isNewest = isLastAt(blocks.flat(), place, rlp);
        assert.deepEqual(found && bytesToHex(found), isNewest ? bytesToHex(rlp) : undefined);
      }
    }),
  );
});

function placeName(place: number): string {
  const { owner, path } = keyOf(place);
  return `${bytesToHex(owner)} ${bytesToHex(path)}`;
}

/** Two numbers can name one place. */
function isLastAt(
  changes: readonly { readonly place: number; readonly length: number | undefined }[],
  place: number,
  rlp: Uint8Array,
): boolean {
  const last = changes.findLast((change) => placeName(change.place) === placeName(place));
  return last?.length !== undefined && bytesToHex(nodeOf(last.place, last.length)) === bytesToHex(rlp);
}

test("a node that NewestNodes found stays as it was when a block writes over it", () => {
  const newest = new NewestNodes();
  newest.add(1, batchOf([{ place: 5, length: 100 }]));
  const { owner, path } = keyOf(5);
  const rlp = nodeOf(5, 100);
  const found = newest.find(owner, path, keccak256(rlp))!;
  newest.add(2, batchOf([{ place: 5, length: 90 }]));
  assert.deepEqual([...found], [...rlp]);
});

test("NewestNodes takes no more memory with blocks that replace the same nodes", () => {
  const newest = new NewestNodes();
  const changes = Array.from({ length: 3_000 }, (_, place) => ({ place, length: 300 }));
  newest.add(0, batchOf(changes));
  const { bytes } = newest;
  for (let number = 1; number < 20; number++) newest.add(number, batchOf(changes));
  assert.equal(newest.bytes, bytes);
});

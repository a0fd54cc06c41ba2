import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import { PendingNodes } from "./pending-nodes.ts";

/** What becomes of the place number `place` of a trie: another node, or none. */
const change = fc.record({ place: fc.nat(400), node: fc.option(fc.nat(30), { nil: undefined }) });
const step = fc.oneof(fc.record({ changes: fc.array(change, { maxLength: 120 }) }), fc.record({ back: fc.nat(6) }));
type Changes = readonly { readonly place: number; readonly node: number | undefined }[];

const rlpOf = (place: number, node: number) => Buffer.from(`node ${node} at ${place}`);

function keyOf(place: number) {
  const path = Uint8Array.of(place >> 8, (place >> 4) & 15, place & 15);
  return { owner: place % 3 === 0 ? new Uint8Array(32).fill(7) : new Uint8Array(0), path };
}

function batchOf(changes: Changes): NodeBatch {
  const batch = new NodeBatch();
  for (const { place, node } of changes) {
    const { owner, path } = keyOf(place);
    if (node === undefined) batch.note(owner, path, 3, new Uint8Array(32));
    else {
      const rlp = rlpOf(place, node);
      batch.add(owner, path, 3, rlp, rlp.length);
    }
  }
  return batch;
}

function contentOf(pending: PendingNodes): readonly string[] {
  return Array.from({ length: pending.places }, (_, place) => {
    const { owner, path, newest } = pending.node(place);
    const name = `${bytesToHex(owner)} ${bytesToHex(path)}`;
    return `${name} ${newest === undefined ? "none" : bytesToHex(newest.rlp)}`;
  });
}

test("pending nodes after a rollback are those of the blocks that are left", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const pending = new PendingNodes();
      let blocks: Changes[] = [];
      const removed: Changes[] = [];
      for (const step of steps) {
        if ("changes" in step) {
          pending.add(blocks.length, batchOf(step.changes));
          blocks.push(step.changes);
        } else {
          const left = Math.max(0, blocks.length - step.back);
          pending.forgetAfter(left - 1);
          removed.push(...blocks.slice(left));
          blocks = blocks.slice(0, left);
        }
      }
      const fresh = new PendingNodes();
      for (const [number, changes] of blocks.entries()) fresh.add(number, batchOf(changes));
      assert.deepEqual(contentOf(pending), contentOf(fresh));
      assert.equal(pending.nodes.bytes, fresh.nodes.bytes);
      for (const { place, node } of [...blocks, ...removed].flat()) {
        if (node === undefined) continue;
        const hash = keccak256(rlpOf(place, node));
        const { owner, path } = keyOf(place);
        assert.deepEqual(pending.find(owner, path, hash), fresh.find(owner, path, hash));
      }
    }),
  );
});

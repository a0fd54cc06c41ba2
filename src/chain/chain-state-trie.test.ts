import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryNodes } from "../../test/support/store/trie/memory-nodes.ts";
import type { Address } from "../base/primitives/address.ts";
import { EMPTY_TRIE_ROOT } from "../base/types/constants.ts";
import { changesOfAlloc } from "../evm/state/state-changes.ts";
import { createStateTrie } from "../evm/state/state-trie.ts";
import { createChainStateTrie } from "./chain-state-trie.ts";

const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}` as Address;

test("a second proof at an old root reads no node again, and the caller still learns when the state is gone", () => {
  const nodes = createMemoryNodes();
  const accounts = Array.from({ length: 300 }, (_, n) => [addressOf(n), { balance: 1n }] as const);
  const stored = createStateTrie(nodes).update(EMPTY_TRIE_ROOT, changesOfAlloc(new Map(accounts)));
  nodes.keep(stored.nodes);
  let reads = 0;
  let isPruned = false;
  const gone = new Error("pruned");
  const trie = createChainStateTrie({
    trieNodes: { node: () => undefined },
    numberOfState: (root) => (root === stored.root ? 7 : undefined),
    trieNodesAt(number) {
      assert.equal(number, 7);
      if (isPruned) throw gone;
      return {
        node(...place) {
          reads++;
          return nodes.node(...place);
        },
      };
    },
  });
  const proof = trie.prove(stored.root, addressOf(5), []);
  assert.ok(reads > 0);
  const readsOfFirst = reads;
  assert.deepEqual(trie.prove(stored.root, addressOf(5), []), proof);
  assert.equal(reads, readsOfFirst);
  isPruned = true;
  assert.throws(() => trie.prove(stored.root, addressOf(5), []), gone);
});

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createMemoryNodes } from "../../../test/support/store/trie/memory-nodes.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { NodeBatch } from "./node-batch.ts";
import { ChunkedNodeCache, NODE_CACHE_BYTES_MIN } from "./node-cache.ts";
import { createTrie } from "./trie.ts";

/** ethereum/tests TrieTests. `trietestnextprev.json` is about iteration, which this trie does not have. */
const FILES = [
  "trieanyorder.json",
  "trieanyorder_secureTrie.json",
  "trietest.json",
  "trietest_secureTrie.json",
  "hex_encoded_securetrie_test.json",
];

type Vector = {
  readonly in: readonly (readonly [string, string | null])[] | Readonly<Record<string, string | null>>;
  readonly root: string;
};

const folder = join(process.env["EVMINT_FIXTURES"] ?? "../shared/fixtures", "ethereum-tests/TrieTests");

for (const file of FILES) {
  const path = join(folder, file);
  const skip = !existsSync(path) && `left out, not found: ${path}`;
  test(`update gives the roots of TrieTests/${file}`, { skip }, () => {
    const isSecure = file.toLowerCase().includes("secure");
    const vectors: Record<string, Vector> = JSON.parse(readFileSync(path, "utf8"));
    assert.ok(Object.keys(vectors).length > 0);
    for (const [name, vector] of Object.entries(vectors)) {
      const isOrdered = Array.isArray(vector.in);
      const steps = (isOrdered ? vector.in : Object.entries(vector.in)) as [string, string | null][];
      const entries = steps.map(([key, value]) => {
        const bytes = bytesOf(key);
        return [isSecure ? keccak256(bytes) : bytes, value === null ? undefined : bytesOf(value)];
      }) as [Uint8Array, Uint8Array | undefined][];
      assert.equal(rootOf(entries), vector.root, name);
      if (!isOrdered) assert.equal(rootOf(entries.toReversed()), vector.root, `${name}, reversed`);
      // Of each key only the last step counts, so all of them can also be one batch.
      const last = new Map(entries.map((entry) => [bytesToHex(entry[0]), entry]));
      assert.equal(rootOf([...last.values()], true), vector.root, `${name}, in one batch`);
    }
  });
}

function rootOf(entries: readonly [Uint8Array, Uint8Array | undefined][], inOne = false): string {
  const nodes = createMemoryNodes();
  const trie = createTrie(nodes, new ChunkedNodeCache(NODE_CACHE_BYTES_MIN), EMPTY_BYTES);
  let root = EMPTY_TRIE_ROOT_BYTES;
  for (const batch of inOne ? [entries] : entries.map((entry) => [entry])) {
    const keys = batch.map(([key]) => key);
    const made = new NodeBatch();
    const update = trie.update(root, { keys, valueOf: (index) => batch[index]![1] }, made);
    nodes.keep(made);
    root = update.root;
  }
  return bytesToHex(root);
}

function bytesOf(text: string): Uint8Array {
  return text.startsWith("0x") ? hexToBytes(text) : Buffer.from(text, "utf8");
}

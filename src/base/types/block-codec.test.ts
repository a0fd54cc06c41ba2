import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fixture, skipWithout } from "../../../test/support/fixtures.ts";
import { encodeRlp } from "../primitives/rlp.ts";
import type { Block } from "./block.ts";
import { blockSize, decodeBlock, decodeBlockAt, encodeBlock } from "./block-codec.ts";
import { decodeHeader, encodeHeader, headerHash } from "./header-codec.ts";
import { recoverSender } from "./transaction/sender.ts";

const chain = fixture("rpc-compat", "chain.rlp");

test("decodeBlockAt and encodeBlock agree on every block of a chain through all forks", {
  skip: skipWithout(chain, "rpc-compat/chain.rlp"),
}, () => {
  const bytes = new Uint8Array(readFileSync(chain!));
  const blocks: Block[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { block, end } = decodeBlockAt(bytes, at);
    const encoded = bytes.subarray(at, end);
    assert.deepEqual(encodeBlock(block), encoded);
    assert.equal(blockSize(block), encoded.length);
    assert.equal(headerHash(block.header), block.hash);
    assert.deepEqual(decodeHeader(encodeHeader(block.header)), block.header);
    for (const tx of block.transactions) recoverSender(tx);
    blocks.push(block);
    at = end;
  }
  assert.ok(blocks.length > 40);
  for (const [index, block] of blocks.entries()) {
    assert.equal(block.header.number, index + 1);
    if (index > 0) assert.equal(block.header.parentHash, blocks[index - 1]!.hash);
  }
  const types = new Set(blocks.flatMap((block) => block.transactions.map((tx) => tx.type)));
  assert.deepEqual([...types].sort(), [0, 1, 2, 3, 4]);
});

test("decodeBlock rejects bytes that are not a block", {
  skip: skipWithout(chain, "rpc-compat/chain.rlp"),
}, () => {
  const file = new Uint8Array(readFileSync(chain!));
  const { block, end } = decodeBlockAt(file, 0);
  const bytes = file.subarray(0, end);
  assert.throws(() => decodeBlock(file), { code: "INVALID_RLP" });
  assert.throws(() => decodeBlock(bytes.subarray(0, end - 1)), { code: "INVALID_RLP" });
  assert.throws(() => decodeBlock(encodeRlp([])), { code: "RLP_TOO_FEW_ELEMENTS" });
  assert.throws(() => decodeBlock(encodeRlp([[], [], []])), { code: "RLP_TOO_FEW_ELEMENTS" });
  const header = encodeHeader(block.header);
  assert.throws(() => decodeHeader(encodeRlp([header])), { code: "RLP_STRING_TOO_LONG" });
});

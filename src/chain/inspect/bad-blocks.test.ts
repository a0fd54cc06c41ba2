import assert from "node:assert/strict";
import { test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { BadBlocks } from "./bad-blocks.ts";

const { block } = new RandomChain(1).next().record;

function numbered(number: number, extraBytes = 0) {
  const header = { ...block.header, number, extraData: new Uint8Array(extraBytes) };
  return { ...block, hash: hashFromBigint(BigInt(number + 1)), header };
}

test("BadBlocks keeps the newest, the highest first", () => {
  const bad = new BadBlocks({ countMax: 100, bytesMax: 32 << 20 });
  for (let number = 0; number < 120; number++) bad.add(numbered(number));
  bad.add(numbered(119));
  assert.deepEqual(
    bad.all().map(({ header }) => header.number),
    Array.from({ length: 100 }, (_, i) => 119 - i),
  );
  assert.equal(bad.get(numbered(0).hash), undefined);
  assert.equal(bad.get(numbered(119).hash)?.header.number, 119);
});

test("BadBlocks keeps no more than its bytes", () => {
  const bad = new BadBlocks({ countMax: 100, bytesMax: 32 << 20 });
  for (let number = 0; number < 5; number++) bad.add(numbered(number, 10 << 20));
  assert.deepEqual(
    bad.all().map(({ header }) => header.number),
    [4, 3, 2],
  );
  bad.add(numbered(9, 40 << 20));
  assert.equal(bad.get(numbered(9).hash), undefined);
  assert.equal(bad.all().length, 3);
});

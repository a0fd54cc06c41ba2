import assert from "node:assert/strict";
import { test } from "node:test";
import { CountedSlices } from "../../../../test/support/base/threads/counted-slices.ts";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { jsonString } from "../../transport/codec.ts";
import { searchResult } from "./search.ts";

test("searchResult gives way to other work after each large transaction, and is the JSON of all", async () => {
  const { chain } = createTestModules();
  const mined = (await chain.transactionAt({ at: 1, index: 0 }))!;
  const receipt = (await chain.receipt({ hash: mined.tx.hash }))!;
  for (const [bytes, least, most] of [
    [120_000, 25, 25],
    [0, 0, 4],
  ] as const) {
    const large = { ...mined, tx: { ...mined.tx, data: new Uint8Array(bytes) } };
    const source = { transactionAt: () => large, receipt: () => receipt };
    const positions = Array.from({ length: 25 }, () => ({ number: 1, index: 0 }));
    const slices = new CountedSlices();
    const modules = { chain: { ...chain, ...source }, sessions: { slices: { json: slices } } };
    const pages = { firstPage: true, lastPage: false };
    const json = await searchResult(positions, pages, modules);
    const { txs, receipts, ...rest } = JSON.parse(jsonString(json));
    assert.deepEqual([txs.length, receipts.length, rest], [25, 25, pages]);
    assert.equal(receipts[24].timestamp, mined.position.blockTimestamp);
    assert.ok(slices.turns >= least && slices.turns <= most, `${slices.turns} turns`);
  }
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { blockJson, modelRemoteChain } from "../../../test/support/remote-chain.ts";
import { DEFAULT_BLOB_SCHEDULE } from "../../base/params/blob-schedule.ts";
import { blobBaseFee, nextBaseFee, nextExcessBlobGas } from "../../base/params/fees.ts";
import { addressFromWord } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { EMPTY_REQUESTS_HASH, EMPTY_UNCLES_HASH } from "../../base/types/constants.ts";
import type { Header } from "../../base/types/header.ts";
import { readForkBlock } from "./fork-point.ts";
import type { RemoteCall } from "./remote-calls.ts";

const ALLOC = new Map([[addressFromWord(1n), { balance: 1n }]]);
const WORD_LIMIT = 2n ** 256n;

/** Reads the block as a node answers it that has `json` in place of members. */
function read(fields: Partial<Header>, json: object = {}) {
  const model = modelRemoteChain(ALLOC, fields);
  const call = async (calls: readonly RemoteCall[]) =>
    calls.map(({ method }) => (method === "eth_chainId" ? "0x1" : { ...blockJson(model.header, model.hash), ...json }));
  return readForkBlock(call, undefined);
}

describe("readForkBlock", () => {
  test("a header with the hash of its fields is read, whatever else the block has", async () => {
    const { header } = await read({ number: 5 }, { totalDifficulty: "0x5", size: "0x1" });
    assert.equal(header.number, 5);
  });

  test("another hash is that of a chain whose headers are not Ethereum's", async () => {
    const claimedHash = `0x${"12".repeat(32)}`;
    const block = await read({}, { hash: claimedHash });
    assert.equal(block.hash, claimedHash);
    assert.equal(block.fieldsHash, (await read({})).hash);
  });

  test("members of later forks are named, and those that are null are none", async () => {
    const later = { inclusionListRoot: `0x${"12".repeat(32)}`, targetBlobCount: null, l1BlockNumber: "0x1" };
    assert.deepEqual((await read({}, later)).unknownMembers, ["inclusionListRoot", "l1BlockNumber"]);
    const amsterdam = { blockAccessListHash: `0x${"12".repeat(32)}` as Hash, slotNumber: 7n };
    const block = await read({ requestsHash: EMPTY_REQUESTS_HASH, ...amsterdam });
    assert.deepEqual([block.unknownMembers, block.header.slotNumber], [[], 7n]);
    assert.equal(block.hash, block.fieldsHash);
  });

  for (const [name, fields] of [
    [
      "slot number",
      { requestsHash: EMPTY_REQUESTS_HASH, blockAccessListHash: EMPTY_UNCLES_HASH, slotNumber: 2n ** 63n },
    ],
    ["number", { number: 2 ** 48 }],
    ["timestamp", { timestamp: 2 ** 41 }],
    ["no gas", { gasLimit: 0n }],
    ["little gas", { gasLimit: 4_999n }],
    ["gas limit", { gasLimit: 2n ** 63n }],
    ["gas used", { gasUsed: 30_000_001n }],
    ["base fee", { baseFeePerGas: 2n ** 200n }],
    ["excess blob gas", { excessBlobGas: 2n ** 30n }],
    ["blob gas", { blobGasUsed: 2n ** 30n }],
    ["extra data", { extraData: new Uint8Array(70_000) }],
  ] as const satisfies readonly (readonly [string, Partial<Header>])[]) {
    test(`${name} out of range is an error, though it has the right hash`, async () => {
      await assert.rejects(read(fields), { code: "FORK_REMOTE_HEADER" });
    });
  }

  test("the largest fees that are accepted have a next block, and fit words", async () => {
    const { header } = await read({
      baseFeePerGas: 2n ** 128n,
      gasUsed: 30_000_000n,
      excessBlobGas: 2n ** 29n - 131_072n,
      blobGasUsed: 131_072n,
    });
    assert.ok(nextBaseFee(header, {}) < WORD_LIMIT);
    for (const params of Object.values(DEFAULT_BLOB_SCHEDULE)) {
      const next = nextExcessBlobGas(header, params, true);
      assert.ok(blobBaseFee(next, params) < WORD_LIMIT);
    }
  });

  for (const member of ["hash", "parentHash", "miner", "stateRoot", "logsBloom", "number"]) {
    for (const value of [null, undefined, "0x", "text", 5, {}, `0x${"ab".repeat(31)}`]) {
      test(`${member}: ${JSON.stringify(value)} is no header`, async () => {
        await assert.rejects(read({}, { [member]: value }), { code: /^FORK_REMOTE_/ });
      });
    }
  }
});

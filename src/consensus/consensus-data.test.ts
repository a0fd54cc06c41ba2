import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../errors.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { hashFromBigint, ZERO_HASH } from "../primitives/hash.ts";
import { decodeRlp, encodeRlp } from "../primitives/rlp.ts";
import { consensusHashOf, encodeConsensusData } from "./consensus-data.ts";
import { inputOf, openTestApplication, PROPOSER, proposalOf } from "./testing/test-application.ts";

const HASH = hashFromBigint(0xabcdefn);

test("encodeConsensusData is the RLP list of hash, proposer and nanoseconds", () => {
  const encoded = encodeConsensusData({ consensusHash: HASH, proposer: PROPOSER, nanos: 258 });
  assert.deepEqual(
    (decodeRlp(encoded) as Uint8Array[]).map((field) => Buffer.from(field).toString("hex")),
    [HASH.slice(2), PROPOSER.slice(2), "0102"],
  );
  assert.equal(consensusHashOf(encoded), HASH);
});

test("consensusHashOf is 0 for a block without consensus data, and an error for damaged data", () => {
  assert.equal(consensusHashOf(EMPTY_BYTES), ZERO_HASH);
  assert.throws(() => consensusHashOf(encodeRlp(EMPTY_BYTES)), InvariantError);
  assert.throws(() => consensusHashOf(encodeRlp([EMPTY_BYTES])), InvariantError);
});

test("the consensus hash of a block is the parent beacon block root of the next", () => {
  const { application, chain } = openTestApplication();
  for (const height of [1, 2]) {
    const txs = application.prepareProposal({ ...proposalOf(height), maxTxBytes: 10_000 });
    application.finalizeBlock(inputOf(proposalOf(height), txs));
    application.commit();
    const parent = height === 1 ? ZERO_HASH : inputOf(proposalOf(1), []).consensusHash;
    assert.equal(chain.head().block.header.parentBeaconBlockRoot, parent);
  }
});

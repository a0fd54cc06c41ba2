import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACCOUNTS,
  inputOf,
  KEYS,
  openTestApplication,
  PROPOSER,
  proposalOf,
} from "../../test/support/consensus/test-application.ts";
import { compressPublicKey } from "../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../base/crypto/secp256k1.ts";
import { EMPTY_BYTES } from "../base/primitives/bytes.ts";
import { hashFromBigint, ZERO_HASH } from "../base/primitives/hash.ts";
import { decodeRlp, encodeRlp } from "../base/primitives/rlp.ts";
import { consensusHashOf, decodeConsensusData, encodeConsensusData } from "./consensus-data.ts";

const HASH = hashFromBigint(0xabcdefn);

const DATA = { consensusHash: HASH, proposer: PROPOSER, nanos: 258, parentRound: 3 };

test("encodeConsensusData is the RLP list of hash, proposer, nanoseconds, round and vote", () => {
  const encoded = encodeConsensusData(DATA);
  assert.deepEqual(
    (decodeRlp(encoded) as Uint8Array[]).map((field) => Buffer.from(field).toString("hex")),
    [HASH.slice(2), PROPOSER.slice(2), "0102", "03", ""],
  );
  assert.equal(consensusHashOf(encoded), HASH);
});

test("decodeConsensusData inverts encodeConsensusData, with and without a vote", () => {
  const publicKey = compressPublicKey(publicKeyFromPrivate(KEYS[1]!));
  const add = { candidate: ACCOUNTS[1]!, authorize: true, publicKey };
  const drop = { candidate: ACCOUNTS[1]!, authorize: false, publicKey: EMPTY_BYTES };
  const startingSet = { initialHeight: 7, signers: [{ address: ACCOUNTS[1]!, publicKey }] };
  const all = [DATA, ...[add, drop].map((vote) => ({ ...DATA, cast: { vote, startingSet } }))];
  for (const data of all) assert.deepEqual(decodeConsensusData(encodeConsensusData(data)), data);
});

test("decodeConsensusData reads the three fields of earlier versions", () => {
  const [hash, proposer, nanos] = decodeRlp(encodeConsensusData(DATA)) as Uint8Array[];
  const data = decodeConsensusData(encodeRlp([hash!, proposer!, nanos!]));
  assert.deepEqual(data, { ...DATA, parentRound: 0 });
});

test("consensusHashOf is 0 for a block without consensus data, and an error for damaged data", () => {
  assert.equal(consensusHashOf(EMPTY_BYTES), ZERO_HASH);
  assert.throws(() => consensusHashOf(encodeRlp(EMPTY_BYTES)), { code: "STORE_MALFORMED_BYTES" });
  assert.throws(() => consensusHashOf(encodeRlp([EMPTY_BYTES])), { code: "STORE_MALFORMED_BYTES" });
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../test/support/base/telemetry/strict-logger.ts";
import { testApplicationContract } from "../../test/support/consensus/application-contract.ts";
import {
  ACCOUNTS,
  inputOf,
  KEYS,
  openTestApplication,
  PROPOSER,
  proposalOf,
  type TestApplication,
  transferOf,
  VALIDATOR_POWER,
} from "../../test/support/consensus/test-application.ts";
import { compressPublicKey } from "../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../base/crypto/secp256k1.ts";
import type { Address } from "../base/primitives/address.ts";
import type { BlockInput, BlockResult } from "./application.ts";
import { decodeProposerData, encodeProposerData } from "./consensus-data.ts";
import { RecordedBlocks } from "./recorded-blocks.ts";
import { soloStartingSet } from "./voting/starting-set.ts";

const BYTES_MAX = 1_000_000;
const CANDIDATE = { address: ACCOUNTS[0]!, publicKey: compressPublicKey(publicKeyFromPrivate(KEYS[0]!)) };

function recordedOver({ application, chain }: TestApplication): RecordedBlocks {
  return new RecordedBlocks(application, {
    chain,
    startingSet: () => soloStartingSet(PROPOSER),
    validatorPower: () => VALIDATOR_POWER,
    rules: undefined,
    log: STRICT_LOGGER,
  });
}

testApplicationContract("recorded blocks at the head", () => {
  const node = openTestApplication();
  const { chain, clock } = node;
  return {
    application: recordedOver(node),
    genesisHash: chain.genesisHash,
    head: () => chain.head().block.header,
    advanceClock(milliseconds: number) {
      clock.now += milliseconds;
    },
  };
});

type Decided = { readonly input: BlockInput; readonly result: BlockResult };

const VOTES: Readonly<Record<number, { readonly proposer?: Address; readonly authorize: boolean }>> = {
  3: { authorize: true },
  5: { authorize: false },
  6: { proposer: CANDIDATE.address, authorize: false },
};

/** Eight blocks with transfers: invalid transactions before, between and after them, votes that let a validator in and out. */
function decideBlocks({ application }: TestApplication): readonly Decided[] {
  return Array.from({ length: 8 }, (_, index) => {
    const height = index + 1;
    const { proposer = PROPOSER, authorize } = VOTES[height] ?? {};
    const vote = authorize !== undefined && {
      candidate: CANDIDATE.address,
      authorize,
      publicKey: authorize ? CANDIDATE.publicKey : new Uint8Array(),
    };
    const proposal = proposalOf(height, { proposer });
    const [first] = application.prepareProposal({ ...proposal, maxTxBytes: BYTES_MAX });
    const invalid = transferOf(1, height + 100).raw;
    const input = inputOf(proposal, [
      encodeProposerData({ ...decodeProposerData(first), ...(vote && { vote }) }),
      ...(height === 2 ? [invalid, invalid] : []),
      transferOf(0, index).raw,
      ...(height === 4 ? [invalid, Uint8Array.of(1, 2, 3)] : []),
      transferOf(2, index).raw,
      // It was valid once.
      ...(height > 6 ? [transferOf(0, index).raw] : []),
    ]);
    const result = application.finalizeBlock(input);
    application.commit();
    return { input, result };
  });
}

for (const height of [0, 1, 5, 7]) {
  test(`an engine that has ${height} of 8 blocks gets the results of the others again, and goes on`, () => {
    const node = openTestApplication();
    const decided = decideBlocks(node);
    const { hash } = node.chain.head().block;
    const application = recordedOver(node);
    let caughtUp = 0;
    application.onCaughtUp(() => caughtUp++);
    application.begin(height);
    assert.deepEqual(application.behind, { height, head: 8 });
    for (const { input, result } of decided.slice(height)) {
      assert.deepEqual(application.info().height, input.height - 1);
      assert.equal(application.info().appHash, node.chain.blockHash(input.height - 1));
      assert.equal(application.processProposal(input), true);
      // After a crash the same block comes again.
      application.finalizeBlock(input);
      application.engineLost();
      assert.deepEqual(application.finalizeBlock(input), result);
      application.commit();
    }
    assert.equal(caughtUp, 8 - height);
    assert.equal(application.behind, undefined);
    assert.equal(application.info().appHash, hash);

    const proposal = proposalOf(9);
    application.finalizeBlock(inputOf(proposal, application.prepareProposal({ ...proposal, maxTxBytes: BYTES_MAX })));
    application.commit();
    assert.equal(node.chain.head().block.header.number, 9);
  });
}

test("an engine with the blocks of the chain begins with nothing", () => {
  const node = openTestApplication();
  decideBlocks(node);
  const application = recordedOver(node);
  application.begin(8);
  assert.equal(application.behind, undefined);
});

test("a proposal that differs from the chain's block is rejected, and never replaces it", () => {
  const node = openTestApplication();
  const decided = decideBlocks(node);
  const application = recordedOver(node);
  application.begin(1);
  const { input } = decided[1]!;
  const data = decodeProposerData(input.txs[0]);
  const others: readonly BlockInput[] = [
    { ...input, time: { ...input.time, nanos: input.time.nanos + 1 } },
    { ...input, time: { ...input.time, seconds: input.time.seconds + 1 } },
    { ...input, proposer: CANDIDATE.address },
    { ...input, txs: input.txs.slice(0, -1) },
    { ...input, txs: [encodeProposerData({ ...data, feeRecipient: CANDIDATE.address }), ...input.txs.slice(1)] },
    { ...input, txs: [encodeProposerData({ ...data, gasLimit: data.gasLimit + 1n }), ...input.txs.slice(1)] },
    { ...input, txs: [encodeProposerData({ ...data, extraData: Uint8Array.of(1) }), ...input.txs.slice(1)] },
  ];
  for (const [index, other] of others.entries()) {
    assert.equal(application.processProposal(other), false, `${index}`);
    assert.throws(() => application.finalizeBlock(other), { code: "CONSENSUS_OTHER_BLOCK" }, `${index}`);
  }
  assert.throws(() => application.finalizeBlock({ ...input, txs: [] }), { code: "INVALID_PROPOSER_DATA" });
  assert.equal(node.chain.head().block.header.number, 8);
  assert.deepEqual(application.finalizeBlock(input), decided[1]!.result);
});

test("a chain without the first blocks does not begin before them", () => {
  const node = openTestApplication();
  decideBlocks(node);
  const chain = { ...node.chain, oldest: () => ({ block: 4, state: 6, proof: 6 }) };
  const application = recordedOver({ ...node, chain });
  assert.throws(() => application.begin(5), { code: "CONSENSUS_BLOCKS_PRUNED" });
  assert.equal(application.behind, undefined);
  application.begin(6);
  assert.deepEqual(application.behind, { height: 6, head: 8 });
});

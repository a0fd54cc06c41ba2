import assert from "node:assert/strict";
import { test } from "node:test";
import { compressPublicKey } from "../../../src/base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../../../src/base/crypto/secp256k1.ts";
import type { Address } from "../../../src/base/primitives/address.ts";
import { equalBytes } from "../../../src/base/primitives/bytes.ts";
import type { Hash } from "../../../src/base/primitives/hash.ts";
import type { Transaction } from "../../../src/base/types/transaction/transaction.ts";
import type { Application, ChainStart, Proposal } from "../../../src/consensus/application.ts";
import { decodeProposerData, encodeProposerData } from "../../../src/consensus/consensus-data.ts";
import { REANNOUNCE_MS } from "../../../src/consensus/gossip-list.ts";
import type { Vote } from "../../../src/consensus/voting/snapshot.ts";
import {
  ACCOUNTS,
  CHAIN_ID,
  GENESIS_TIME,
  inputOf,
  KEYS,
  PROPOSER,
  proposalOf,
  RECIPIENT,
  REVERTER,
  transferOf,
  VALIDATOR_POWER,
  withCalls,
} from "./test-application.ts";

/** A node whose application is driven by a test, directly or through an engine's transport. */
export type ApplicationUnderTest = {
  readonly application: Application;
  readonly genesisHash: Hash;
  /** The committed block's fields that a proposal decides. */
  head(): { readonly number: number; readonly coinbase: Address; readonly timestamp: number };
  /** Clock of the gossip list, in milliseconds; only goes forward. */
  advanceClock(milliseconds: number): void;
};

const BYTES_MAX = 1_000_000;
const VALIDATOR = {
  publicKey: compressPublicKey(publicKeyFromPrivate(KEYS[0]!)),
  address: ACCOUNTS[0]!,
  power: 1,
};
const NO_LIMITS = { maxBytes: 0, maxGas: 0n };

/** The rules every application keeps, and every engine relies on. @param open a fresh node at genesis */
export function testApplicationContract(name: string, open: () => ApplicationUnderTest): void {
  const prepare = ({ application }: ApplicationUnderTest, proposal: Proposal) =>
    application.prepareProposal({ ...proposal, maxTxBytes: BYTES_MAX });

  /** One block with everything in the pool; its hash. */
  function decide(node: ApplicationUnderTest, proposal = proposalOf(node.head().number + 1)) {
    const input = inputOf(proposal, prepare(node, proposal));
    assert.equal(node.application.processProposal(input), true);
    const result = node.application.finalizeBlock(input);
    node.application.commit();
    return { input, result };
  }

  function submit({ application }: ApplicationUnderTest, ...txs: readonly Transaction[]) {
    for (const { raw } of txs) assert.deepEqual(application.checkTx(raw), { code: 0, log: "" });
  }

  test(`${name}: initChain agrees to the own genesis, repeatedly, and to no other`, () => {
    const { application, genesisHash } = open();
    const start = (overrides: Partial<ChainStart> = {}): ChainStart => ({
      time: { seconds: GENESIS_TIME, nanos: 0 },
      chainId: `evmint-${CHAIN_ID}`,
      initialHeight: 1,
      validators: [VALIDATOR],
      appState: Buffer.from(JSON.stringify({ evmGenesis: genesisHash })),
      ...overrides,
    });
    for (let times = 0; times < 2; times++) {
      assert.deepEqual(application.initChain(start()), { appHash: genesisHash });
    }
    const [validator] = start().validators;
    const others: Partial<ChainStart>[] = [
      { chainId: "evmint-1" },
      { initialHeight: 2 },
      { time: { seconds: GENESIS_TIME - 1, nanos: 0 } },
      { appState: Buffer.from("{}") },
      // The network begins with a fork that the genesis file lacks, and without the file's forks.
      { appState: Buffer.from(JSON.stringify({ evmGenesis: genesisHash, forks: "londonBlock glamsterdamTime" })) },
      { appState: Buffer.from("not JSON") },
      { appState: Buffer.from("null") },
      { validators: [] },
      { validators: [validator!, validator!] },
      { validators: [{ ...validator!, power: 0 }] },
    ];
    for (const other of others) {
      assert.throws(() => application.initChain(start(other)), {
        code: "CONSENSUS_GENESIS_DISAGREEMENT",
      });
    }
  });

  test(`${name}: info is the last committed block, whatever was proposed or finalized`, () => {
    const node = open();
    const { application, genesisHash } = node;
    assert.deepEqual(application.info(), { height: 0, appHash: genesisHash, appVersion: 1 });
    const input = inputOf(proposalOf(1), prepare(node, proposalOf(1)));
    application.processProposal(input);
    const { appHash } = application.finalizeBlock(input);
    assert.equal(application.info().height, 0);
    application.commit();
    assert.deepEqual(application.info(), { height: 1, appHash, appVersion: 1 });
    assert.equal(node.head().timestamp, proposalOf(1).time.seconds);
  });

  test(`${name}: what one node proposes every node accepts, finalizes to the same hash, and replays`, () => {
    const [proposer, validator, replayer] = [open(), open(), open()];
    for (let height = 1; height <= 3; height++) {
      const gossiped = transferOf(0, height - 1);
      submit(proposer, gossiped, transferOf(1, height - 1));
      assert.equal(validator.application.insertTx(gossiped.raw).code, 0);
      const proposal = proposalOf(height);
      const input = inputOf(proposal, prepare(proposer, proposal));
      assert.equal(input.txs.length, 3);
      for (const { application } of [proposer, validator]) {
        assert.equal(application.processProposal(input), true);
      }
      const results = [proposer, validator, replayer].map(({ application }) => {
        const result = application.finalizeBlock(input);
        application.commit();
        return result;
      });
      assert.deepEqual(results[1], results[0]);
      assert.deepEqual(results[2], results[0]);
      assert.deepEqual(results[0]!.results, [
        { code: 0, gasWanted: 0n, gasUsed: 0n },
        { code: 0, gasWanted: 21_000n, gasUsed: 21_000n },
        { code: 0, gasWanted: 21_000n, gasUsed: 21_000n },
      ]);
    }
  });

  test(`${name}: rounds with other contents change nothing; finalize may be repeated, also after the engine was lost`, () => {
    const node = open();
    const { application } = node;
    const plain = open();
    submit(node, transferOf(0, 0));
    const inputs = [11, 12, 13, 14, 15, 16].map((seconds) => {
      const proposal = proposalOf(1, { time: { seconds: GENESIS_TIME + seconds, nanos: 0 } });
      return inputOf(proposal, prepare(node, proposal));
    });
    for (const input of inputs) assert.equal(application.processProposal(input), true);
    const first = application.finalizeBlock(inputs[0]!);
    application.engineLost();
    assert.deepEqual(application.finalizeBlock(inputs[0]!), first);
    assert.deepEqual(application.finalizeBlock(inputs[0]!), first);
    application.commit();
    assert.deepEqual(plain.application.finalizeBlock(inputs[0]!), first);
    assert.equal(application.processProposal(inputs[1]!), false);
  });

  test(`${name}: a reverted call is part of the block with code 0`, () => {
    const node = open();
    const { genesisHash } = node;
    submit(node, transferOf(0, 0, { to: REVERTER, gasLimit: 50_000n, value: 0n }));
    const { result } = decide(node);
    assert.notEqual(result.appHash, genesisHash);
    assert.equal(result.results[1]?.code, 0);
    assert.equal(result.results[1]?.gasWanted, 50_000n);
    assert.ok(result.results[1]!.gasUsed < 50_000n);
  });

  test(`${name}: an invalid transaction of a decided block is skipped with code 1, and makes a proposal invalid`, () => {
    const [node, clean] = [open(), open()];
    const [first] = prepare(node, proposalOf(1));
    const [good, next] = [transferOf(0, 0), transferOf(0, 1)];
    const txs = [
      first!,
      Uint8Array.of(),
      good.raw,
      good.raw,
      transferOf(0, 9).raw,
      transferOf(1, 0, { chainId: 5n }).raw,
      good.raw.subarray(1),
      next.raw,
    ];
    const input = inputOf(proposalOf(1), txs);
    assert.equal(node.application.processProposal(input), false);
    const { appHash, results } = node.application.finalizeBlock(input);
    assert.deepEqual(
      results.map(({ code }) => code),
      [0, 1, 0, 1, 1, 1, 1, 0],
    );
    assert.equal(node.application.processProposal(input), false);
    const valid = inputOf(proposalOf(1), [first!, good.raw, next.raw]);
    assert.equal(clean.application.finalizeBlock(valid).appHash, appHash);
  });

  test(`${name}: insertTx answers 1 only for what can never become valid, and accepts nonce gaps`, () => {
    const node = open();
    const { application } = node;
    submit(node, transferOf(3, 0));
    decide(node);
    const cases: readonly (readonly [number, Uint8Array])[] = [
      [0, transferOf(0, 0).raw],
      [0, transferOf(0, 0).raw],
      [0, transferOf(0, 5).raw],
      [1, Uint8Array.of()],
      [1, Uint8Array.of(2, 0xc0)],
      [1, transferOf(0, 1).raw.subarray(0, 40)],
      [1, transferOf(1, 0, { chainId: 1n }).raw],
      [1, transferOf(3, 0, { value: 2n }).raw],
      [1, transferOf(1, 0, { gasLimit: 20_000n }).raw],
      [1, transferOf(1, 0, { maxPriorityFeePerGas: 10n ** 11n }).raw],
      [32000, transferOf(1, 0, { value: 10n ** 24n }).raw],
      [32000, transferOf(0, 0, { maxFeePerGas: 10n ** 10n + 1n, value: 2n }).raw],
      [32000, transferOf(1, 0, { maxPriorityFeePerGas: 0n }).raw],
      // EIP-7825 caps the gas of one transaction.
      [1, transferOf(1, 0, { gasLimit: 2n ** 24n + 1n }).raw],
    ];
    for (const [index, [code, raw]] of cases.entries()) {
      assert.deepEqual(application.insertTx(raw), { code }, `case ${index}`);
    }
  });

  test(`${name}: reapTxs returns each new transaction once, from users and peers, queued ones too`, () => {
    const node = open();
    const { application } = node;
    const [local, peers, queued] = [transferOf(0, 0), transferOf(1, 0), transferOf(2, 7)];
    submit(node, local, queued);
    assert.equal(application.insertTx(peers.raw).code, 0);
    assert.deepEqual(application.reapTxs(NO_LIMITS), [local.raw, queued.raw, peers.raw]);
    assert.deepEqual(application.reapTxs(NO_LIMITS), []);
    node.advanceClock(REANNOUNCE_MS - 1);
    assert.deepEqual(application.reapTxs(NO_LIMITS), []);
    node.advanceClock(1);
    assert.deepEqual(application.reapTxs(NO_LIMITS), [local.raw, queued.raw]);
    decide(node);
    node.advanceClock(REANNOUNCE_MS);
    assert.deepEqual(application.reapTxs(NO_LIMITS), [queued.raw]);
  });

  test(`${name}: reapTxs skips what does not fit and keeps it for later, except what can never fit`, () => {
    const node = open();
    const { application } = node;
    const large = transferOf(0, 0, { data: new Uint8Array(1_000), gasLimit: 100_000n });
    const small = [transferOf(1, 0), transferOf(2, 0), transferOf(3, 0)];
    submit(node, large, ...small);
    const size = small[0]!.raw.length;
    const limits = { maxBytes: 2 * size + 1, maxGas: 0n };
    assert.deepEqual(application.reapTxs(limits), [small[0]!.raw, small[1]!.raw]);
    assert.deepEqual(application.reapTxs({ maxBytes: 0, maxGas: 21_000n }), [small[2]!.raw]);
    assert.deepEqual(application.reapTxs(NO_LIMITS), []);
    const again = transferOf(1, 1, { data: new Uint8Array(1_000), gasLimit: 100_000n });
    submit(node, again, transferOf(2, 1));
    assert.deepEqual(application.reapTxs({ maxBytes: again.raw.length, maxGas: 0n }), [again.raw]);
    assert.ok(equalBytes(application.reapTxs(NO_LIMITS)[0]!, transferOf(2, 1).raw));
  });

  test(`${name}: prepareProposal keeps the size limit`, () => {
    const node = open();
    submit(node, transferOf(0, 0), transferOf(1, 0), transferOf(2, 0));
    for (const maxTxBytes of [0, 60, 200, 300, 400]) {
      const txs = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes });
      const bytes = txs.slice(1).reduce((sum, tx) => sum + tx.length + 4, 4 + txs[0]!.length);
      assert.ok(txs.length === 1 || bytes <= maxTxBytes);
    }
  });

  test(`${name}: votes in proposer data change the validator set by majority, and replay to the same hash`, () => {
    const [node, replayer] = [open(), open()];
    const [first, second] = [ACCOUNTS[1]!, ACCOUNTS[2]!];
    const keys = KEYS.map((key) => compressPublicKey(publicKeyFromPrivate(key)));
    const add = (account: number): Vote => ({
      candidate: ACCOUNTS[account]!,
      authorize: true,
      publicKey: keys[account]!,
    });
    const drop = (candidate: Address): Vote => ({
      candidate,
      authorize: false,
      publicKey: new Uint8Array(),
    });
    const update = (account: number, power: number) => ({
      address: ACCOUNTS[account]!,
      publicKey: keys[account]!,
      power,
    });
    const rounds: readonly (readonly [Address, Vote | undefined, readonly object[]])[] = [
      [PROPOSER, add(1), [update(1, VALIDATOR_POWER)]],
      [PROPOSER, add(1), []],
      [PROPOSER, add(2), []],
      [RECIPIENT, add(2), []],
      [first, undefined, []],
      [first, add(2), [update(2, VALIDATOR_POWER)]],
      [PROPOSER, drop(second), []],
      [second, drop(second), [update(2, 0)]],
      [second, drop(first), []],
    ];
    for (const [index, [proposer, vote, updates]] of rounds.entries()) {
      const proposal = proposalOf(index + 1, { proposer });
      const data = decodeProposerData(prepare(node, proposal)[0]);
      const input = inputOf(proposal, [encodeProposerData({ ...data, ...(vote && { vote }) })]);
      assert.equal(node.application.processProposal(input), true);
      const [result, replayed] = [node, replayer].map(({ application }) => {
        const result = application.finalizeBlock(input);
        application.commit();
        return result;
      });
      assert.deepEqual(result!.validatorUpdates, updates, `block ${index + 1}`);
      assert.deepEqual(replayed, result);
    }
  });

  test(`${name}: without state sync no snapshot is served or accepted`, () => {
    const { application, genesisHash } = open();
    const snapshot = {
      height: 1,
      format: 1,
      chunks: 1,
      hash: new Uint8Array(32),
      metadata: new Uint8Array(32),
    };
    assert.deepEqual(application.listSnapshots(), []);
    assert.equal(application.loadSnapshotChunk(1, 1, 0).length, 0);
    assert.equal(application.offerSnapshot(snapshot, genesisHash), "reject");
    assert.equal(application.applySnapshotChunk(0, new Uint8Array(), "peer").result, "abort");
  });
}

/**
 * `application` behind checks of what an engine may call when: heights in order, one finalize and one commit a block, the
 * finalized block was accepted unless it is replayed, times never fall.
 */
export function assertingApplication(application: Application): Application {
  let isAccepted = false;
  let isFinalized = false;
  let seconds = 0;
  const checkHeight = (height: number) => assert.equal(height, application.info().height + 1);
  return withCalls(application, {
    prepareProposal(proposal) {
      checkHeight(proposal.height);
      assert.equal(isFinalized, false);
      return application.prepareProposal(proposal);
    },
    processProposal(input) {
      checkHeight(input.height);
      assert.equal(isFinalized, false);
      isAccepted = application.processProposal(input);
      return isAccepted;
    },
    finalizeBlock(input) {
      checkHeight(input.height);
      assert.equal(isFinalized, false);
      assert.ok(isAccepted);
      assert.ok(input.time.seconds >= seconds);
      seconds = input.time.seconds;
      isFinalized = true;
      return application.finalizeBlock(input);
    },
    commit() {
      assert.ok(isFinalized);
      isFinalized = false;
      isAccepted = false;
      return application.commit();
    },
    engineLost() {
      isFinalized = false;
      isAccepted = false;
      application.engineLost();
    },
  });
}

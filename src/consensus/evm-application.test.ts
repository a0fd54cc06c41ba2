import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../test/support/base/telemetry/manual-timers.ts";
import { assertingApplication, testApplicationContract } from "../../test/support/consensus/application-contract.ts";
import {
  GENESIS,
  GENESIS_TIME,
  inputOf,
  openTestApplication,
  PROPOSER,
  proposalOf,
  type TestApplication,
  transferOf,
  withCalls,
} from "../../test/support/consensus/test-application.ts";
import { NodeError } from "../base/errors.ts";
import { BLOCK_RLP_SIZE_MAX } from "../base/params/gas.ts";
import type { Address } from "../base/primitives/address.ts";
import { hexToBytes } from "../base/primitives/hex.ts";
import { encodeBlock } from "../base/types/block-codec.ts";
import { isIndexDamage } from "../chain/store-errors.ts";
import { KvCorruptionError, KvDamagedError, KvMissingRowError } from "../store/storage/kv.ts";
import { INSERT_CODES } from "./application.ts";
import { SoloEngine } from "./solo/solo-engine.ts";

function underTest({ application, chain, clock }: TestApplication) {
  return {
    application,
    genesisHash: chain.genesisHash,
    head: () => chain.head().block.header,
    advanceClock(milliseconds: number) {
      clock.now += milliseconds;
    },
  };
}

testApplicationContract("evm application", () => underTest(openTestApplication()));

test("the solo engine drives the application by the rules, also over a failure", () => {
  const node = openTestApplication();
  let isDiskFull = false;
  const application = assertingApplication(
    withCalls(node.application, {
      commit() {
        if (isDiskFull) throw new Error("disk full");
        return node.application.commit();
      },
    }),
  );
  const engine = new SoloEngine(
    {
      blockTime: "manual",
      proposer: PROPOSER,
      onFatal: (error) => assert.fail(String(error)),
      isTemporary: () => true,
      onStalled() {},
    },
    {
      application,
      onExecutable: () => () => {},
      executableCount: () => node.mempool.counts().pending,
      now: () => ({ seconds: GENESIS_TIME, nanos: 0 }),
      headTimestamp: () => node.chain.head().block.header.timestamp,
      timers: new ManualTimers(),
    },
  );
  for (let number = 1; number <= 3; number++) {
    node.mempool.add({ tx: transferOf(0, number - 1) });
    isDiskFull = true;
    assert.throws(() => engine.produceBlock());
    application.engineLost();
    isDiskFull = false;
    assert.equal(engine.produceBlock(), node.chain.head().block.hash);
    assert.equal(node.chain.head().block.header.timestamp, GENESIS_TIME + number);
    assert.equal(node.chain.head().block.transactions.length, 1);
  }
});

/** A node whose next block is packed ahead, with how often it has executed a transaction. */
function nodeAhead() {
  const executed = { count: 0 };
  const recipient: { value: Address } = { value: PROPOSER };
  const node = openTestApplication({
    executorFault: () => {
      executed.count++;
    },
    feeRecipient: () => recipient.value,
  });
  const proposal = { ...proposalOf(1), maxTxBytes: 1_000_000 };
  const packAhead = () => node.application.prepareAhead!(proposal, Number.POSITIVE_INFINITY);
  return { node, executed, recipient, proposal, packAhead };
}

const tippedTransfer = (from: number, nonce: number, tip: bigint) =>
  transferOf(from, nonce, { maxPriorityFeePerGas: tip });

test("a block packed ahead is the block that would be packed when it is due, and nothing is executed twice", () => {
  const { node, executed, proposal, packAhead } = nodeAhead();
  const all = [transferOf(0, 0), transferOf(1, 0), transferOf(0, 1), tippedTransfer(2, 0, 1n)];
  for (const tx of all) {
    node.mempool.add({ tx });
    assert.equal(packAhead(), false);
  }
  assert.equal(executed.count, all.length);
  const txs = node.application.prepareProposal(proposal);
  assert.equal(executed.count, all.length);
  const direct = openTestApplication();
  for (const tx of all) direct.mempool.add({ tx });
  assert.deepEqual(direct.application.prepareProposal(proposal), txs);
  assert.equal(
    node.application.finalizeBlock(inputOf(proposal, txs)).appHash,
    direct.application.finalizeBlock(inputOf(proposal, txs)).appHash,
  );
});

test("a part packed ahead is not used for a different block", () => {
  const later = transferOf(1, 0, { maxPriorityFeePerGas: 5n * 10n ** 9n });
  const changes: Record<string, (ahead: ReturnType<typeof nodeAhead>) => void> = {
    "a higher tip came later": ({ node }) => node.mempool.add({ tx: later }),
    "a transaction left the pool": ({ node }) => node.mempool.remove(transferOf(0, 0).hash, "dropped"),
    "the fee recipient is another one": ({ recipient }) => {
      recipient.value = `0x${"bb".repeat(20)}` as Address;
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    const ahead = nodeAhead();
    const { node, proposal, recipient } = ahead;
    node.mempool.add({ tx: transferOf(0, 0) });
    node.mempool.add({ tx: transferOf(2, 0) });
    ahead.packAhead();
    change(ahead);
    const txs = node.application.prepareProposal(proposal);
    const direct = openTestApplication({ feeRecipient: () => recipient.value });
    for (const { tx } of node.mempool.all()) direct.mempool.add({ tx });
    assert.deepEqual(txs, direct.application.prepareProposal(proposal), name);
    const input = inputOf(proposal, txs);
    assert.equal(node.application.processProposal(input), true, name);
    const { appHash } = node.application.finalizeBlock(input);
    assert.equal(appHash, direct.application.finalizeBlock(input).appHash, name);
    assert.deepEqual(node.failures, [], name);
  }
});

test("a transaction that crashes the executor ahead is set aside when the block is due", () => {
  const poison = transferOf(1, 0);
  const node = openTestApplication({
    executorFault({ hash }) {
      if (hash === poison.hash) throw new TypeError("injected");
    },
  });
  for (const tx of [transferOf(0, 0), poison]) node.mempool.add({ tx });
  const proposal = { ...proposalOf(1), maxTxBytes: 1_000_000 };
  assert.equal(node.application.prepareAhead!(proposal, 1_000), false);
  assert.deepEqual([node.setAside, node.failures], [[], []]);
  assert.deepEqual(node.application.prepareProposal(proposal).slice(1), [transferOf(0, 0).raw]);
  assert.equal(node.setAside.length, 1);
});

test("a transaction that crashes the executor is set aside, and the rest of the pool makes the block", () => {
  const poison = transferOf(1, 0, { maxPriorityFeePerGas: 5n * 10n ** 9n });
  const bug = new TypeError("injected");
  const node = openTestApplication({
    executorFault({ hash }) {
      if (hash === poison.hash) throw bug;
    },
  });
  for (const tx of [transferOf(0, 0), poison, transferOf(1, 1), transferOf(2, 0)]) {
    node.mempool.add({ tx });
  }
  const txs = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000_000 });
  assert.deepEqual(txs.slice(1), [transferOf(0, 0).raw, transferOf(2, 0).raw]);
  assert.deepEqual(
    node.setAside.map(({ transaction, cause }) => [transaction.hash, cause]),
    [[poison.hash, bug]],
  );
  assert.equal(node.mempool.get(poison.hash), undefined);
  const input = inputOf(proposalOf(1), txs);
  assert.equal(node.application.processProposal(input), true);
  node.application.finalizeBlock(input);
  node.application.commit();
  assert.deepEqual(node.failures, []);
});

test("a row that is missing while a block is packed is reported, and no transaction is set aside or left out", () => {
  const reader = transferOf(1, 0);
  for (const damage of [
    new KvMissingRowError({ key: "02" }),
    new KvCorruptionError({ key: "02" }),
    new KvDamagedError("index files are damaged"),
  ]) {
    const node = openTestApplication({
      executorFault({ hash }) {
        if (hash === reader.hash) throw damage;
      },
    });
    for (const tx of [transferOf(0, 0), reader]) node.mempool.add({ tx });
    const txs = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000_000 });
    // The node ends for it, and its next start makes the index anew.
    assert.equal(txs.length, 1);
    assert.equal(node.failures.length, 1);
    assert.ok(isIndexDamage(node.failures[0]));
    assert.deepEqual(node.setAside, []);
    assert.ok(node.mempool.get(reader.hash));
  }
});

test("a pool full of transactions that crash the executor gives an empty block, and each is executed once", () => {
  let executed = 0;
  const node = openTestApplication({
    executorFault() {
      executed++;
      throw new RangeError("injected");
    },
  });
  for (let nonce = 0; nonce < 200; nonce++) node.mempool.add({ tx: transferOf(nonce % 4, Math.floor(nonce / 4)) });
  const txs = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000_000 });
  assert.equal(txs.length, 1);
  assert.ok(executed > 0 && executed <= 200, String(executed));
  assert.equal(node.application.processProposal(inputOf(proposalOf(1), txs)), true);
});

test("a bug met in a proposal of somebody else rejects it and is reported", () => {
  const proposer = openTestApplication();
  proposer.mempool.add({ tx: transferOf(0, 0) });
  const txs = proposer.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000_000 });
  const bug = new TypeError("injected");
  const node = openTestApplication({
    executorFault() {
      throw bug;
    },
  });
  assert.equal(node.application.processProposal(inputOf(proposalOf(1), txs)), false);
  assert.deepEqual(node.failures, [bug]);
  assert.throws(() => node.application.finalizeBlock(inputOf(proposalOf(1), txs)), bug);
});

test("proposed and accepted blocks are not executed again", () => {
  let executed = 0;
  const node = openTestApplication({
    executorFault() {
      executed++;
    },
  });
  node.mempool.add({ tx: transferOf(0, 0) });
  const txs = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000_000 });
  const input = inputOf(
    proposalOf(1),
    txs.map((tx) => tx.slice()),
  );
  node.application.processProposal(input);
  node.application.processProposal(input);
  node.application.finalizeBlock(input);
  assert.equal(executed, 1);
});

test("a decided block that cannot follow the head is an error, not a crash of the state", () => {
  const node = openTestApplication();
  const [first] = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000 });
  for (const [code, input] of [
    ["CONSENSUS_WRONG_HEIGHT", inputOf(proposalOf(2), [first!])],
    ["INVALID_PROPOSER_DATA", inputOf(proposalOf(1), [])],
    [
      "BLOCK_INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT",
      inputOf(proposalOf(1, { time: { seconds: GENESIS_TIME - 1, nanos: 0 } }), [first!]),
    ],
  ] as const) {
    assert.throws(
      () => node.application.finalizeBlock(input),
      (error) => error instanceof NodeError && error.code === code,
    );
  }
});

test("if blocks name their forks, a node that alone knows a fork executes none of the others' blocks", () => {
  const begun = GENESIS_TIME + 1;
  const proposal = proposalOf(1, { time: { seconds: GENESIS_TIME + 10, nanos: 0 } });
  const txsOf = (namesForks: boolean) => {
    const { application } = openTestApplication({ osakaTime: undefined, namesForks });
    return application.prepareProposal({ ...proposal, maxTxBytes: 1_000 });
  };
  for (const { own, names, isVotedFor } of [
    { own: undefined, names: true, isVotedFor: true },
    { own: begun, names: true, isVotedFor: false },
    { own: undefined, names: false, isVotedFor: false },
  ]) {
    const { application } = openTestApplication({ osakaTime: own, namesForks: true });
    const input = inputOf(proposal, txsOf(names));
    assert.equal(application.processProposal(input), isVotedFor);
    if (own === begun) assert.throws(() => application.finalizeBlock(input), { code: "CONSENSUS_OTHER_FORK_SCHEDULE" });
    else application.finalizeBlock(input);
  }
});

test("a block that another fork schedule executes is neither voted for nor decided here", () => {
  const begun = GENESIS_TIME + 1;
  const later = GENESIS_TIME + 1_000;
  for (const { own, theirs, isVotedFor = false, isExecuted = isVotedFor } of [
    { own: begun, theirs: begun, isVotedFor: true },
    { own: begun, theirs: later },
    { own: later, theirs: begun },
    { own: undefined, theirs: begun },
    { own: undefined, theirs: later, isVotedFor: true },
    { own: later, theirs: undefined, isVotedFor: true },
    { own: undefined, theirs: undefined, isVotedFor: true },
    // An older program names no forks, and the blocks of a chain that it made stay valid.
    { own: begun, theirs: undefined, isExecuted: true },
  ]) {
    const proposal = proposalOf(1, { time: { seconds: GENESIS_TIME + 10, nanos: 0 } });
    const proposer = openTestApplication({ osakaTime: theirs });
    const txs = proposer.application.prepareProposal({ ...proposal, maxTxBytes: 1_000 });
    const { application } = openTestApplication({ osakaTime: own });
    const input = inputOf(proposal, txs);
    assert.equal(application.processProposal(input), isVotedFor);
    if (isExecuted) application.finalizeBlock(input);
    else assert.throws(() => application.finalizeBlock(input), { code: "CONSENSUS_OTHER_FORK_SCHEDULE" });
  }
});

test("prepareProposal never throws, whatever it needs fails", () => {
  const fault = new TypeError("injected");
  const fail = () => {
    throw fault;
  };
  const proposal = { ...proposalOf(1), maxTxBytes: 1_000_000 };
  const withoutRecipient = openTestApplication({ feeRecipient: fail });
  assert.deepEqual(withoutRecipient.application.prepareProposal(proposal), []);
  assert.deepEqual(withoutRecipient.failures, [fault]);
  assert.equal(withoutRecipient.application.processProposal(inputOf(proposalOf(1), [])), false);

  for (const broken of ["head", "consensusDataOf", "stateAt"] as const) {
    const node = openTestApplication();
    node.mempool.add({ tx: transferOf(0, 0) });
    node.chain[broken] = fail;
    assert.equal(node.application.prepareProposal(proposal).length, broken === "head" ? 0 : 1);
    assert.deepEqual(node.failures, [fault], broken);
  }
  const node = openTestApplication();
  node.mempool.pendingForBlock = fail;
  assert.equal(node.application.prepareProposal(proposal).length, 1);
  assert.deepEqual(node.failures, [fault]);
});

test("eip7934: a proposal larger than 8 MiB is rejected, one byte less is accepted", () => {
  const node = openTestApplication({ gasLimit: 200_000_000n });
  const [first] = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 100_000 });
  const gasLimit = 16_000_000n;
  const call = (nonce: number, bytes: number) => transferOf(0, nonce, { gasLimit, data: new Uint8Array(bytes) }).raw;
  const large = Array.from({ length: 5 }, (_, nonce) => call(nonce, 1_500_000));
  const sizeOf = (bytes: number) => {
    const input = inputOf(proposalOf(1), [first!, ...large, call(5, bytes)]);
    return { input, isAccepted: node.application.processProposal(input) };
  };
  // Bisects the number of bytes at which the block is too large.
  let fits = BLOCK_RLP_SIZE_MAX - large.length * 1_500_000 - 4_000;
  let exceeds = fits + 4_000;
  assert.ok(sizeOf(fits).isAccepted && !sizeOf(exceeds).isAccepted);
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >> 1;
    if (sizeOf(middle).isAccepted) fits = middle;
    else exceeds = middle;
  }
  node.application.finalizeBlock(sizeOf(fits).input);
  node.application.commit();
  assert.equal(encodeBlock(node.chain.head().block).length, BLOCK_RLP_SIZE_MAX);
  assert.deepEqual(node.failures, []);
});

/** Logs its call data as an event of the deposit contract. */
const DEPOSIT_LOGGER = "0x365f5f377f649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5365fa100";

test("a transaction with which no block is valid is set aside, and the others make the block", () => {
  const contract = `0x${"de".repeat(20)}` as Address;
  const alloc = new Map([
    ...GENESIS.alloc,
    [contract, { balance: 0n, nonce: 1n, code: hexToBytes(DEPOSIT_LOGGER), storage: new Map() }] as const,
  ]);
  const config = { ...GENESIS.config, depositContractAddress: contract };
  const node = openTestApplication({ genesis: { ...GENESIS, alloc, config } });
  const poison = transferOf(1, 0, {
    to: contract,
    value: 0n,
    data: Uint8Array.of(1),
    gasLimit: 200_000n,
    maxPriorityFeePerGas: 5n * 10n ** 9n,
  });
  const others = [transferOf(0, 0), transferOf(2, 0), transferOf(3, 0)];
  for (const tx of [poison, ...others]) node.mempool.add({ tx });
  const txs = node.application.prepareProposal({ ...proposalOf(1), maxTxBytes: 1_000_000 });
  assert.deepEqual(new Set(txs.slice(1)), new Set(others.map(({ raw }) => raw)));
  assert.deepEqual(
    node.setAside.map(({ transaction, cause }) => [transaction.hash, (cause as Error).message]),
    [[poison.hash, "deposit wrong length: want 576, have 1"]],
  );
  assert.deepEqual(node.failures, []);
});

test("a peer's transaction that is larger than the pool takes is refused before it is decoded", () => {
  const { application } = openTestApplication();
  // Bytes that are no transaction: decoded first, they would be told apart by that.
  const { code, log } = application.checkTx(new Uint8Array(1 << 20).fill(0xc0));
  assert.equal(code, INSERT_CODES.invalid);
  assert.match(log, /^oversized data: transaction size 1048576, limit 131072$/);
  assert.equal(application.insertTx(new Uint8Array(1 << 20).fill(0xc0)).code, INSERT_CODES.invalid);
});

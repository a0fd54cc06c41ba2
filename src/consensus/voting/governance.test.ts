import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  ACCOUNTS,
  GAS_LIMIT,
  GENESIS,
  GENESIS_TIME,
  inputOf,
  KEYS,
  openTestApplication,
  proposalOf,
  type TestApplication,
  transferOf,
} from "../../../test/support/consensus/test-application.ts";
import { compressPublicKey } from "../../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../../base/crypto/secp256k1.ts";
import { AMSTERDAM_GAS_LIMIT_MIN, REQUEST_CONTRACTS } from "../../base/params/gas.ts";
import type { GenesisAccount } from "../../base/params/genesis-account.ts";
import { TIME_FORK_FIELDS } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { decodeRlp } from "../../base/primitives/rlp.ts";
import { decodeBlockAccessList } from "../../base/types/block-access-list.ts";
import { decodeBlockAt } from "../../base/types/block-codec.ts";
import { exportFileBlock, importFileBlock } from "../../node/chain-files/chain-file.ts";
import type { Misbehavior, Proposal } from "../application.ts";
import { decodeConsensusData, decodeProposerData, encodeConsensusData, encodeProposerData } from "../consensus-data.ts";
import { ParameterProposals } from "./parameter-proposals.ts";

const SIGNERS = ACCOUNTS.map((address, index) => ({
  address,
  publicKey: compressPublicKey(publicKeyFromPrivate(KEYS[index]!)),
}));
const NO_OSAKA = 4_000_000_000;
const FORK = GENESIS_TIME + 60;

function openNode(options: Parameters<typeof openTestApplication>[0] = {}, signers = SIGNERS.slice(0, 1)) {
  return openTestApplication({ startingSet: { initialHeight: 1, signers }, ...options });
}

function proposalBy({ application }: TestApplication, signer: number, overrides: Partial<Proposal> = {}): Proposal {
  return proposalOf(application.info().height + 1, { proposer: ACCOUNTS[signer]!, ...overrides });
}

/** The next block, proposed by the first node and decided by all. */
function decide(nodes: readonly TestApplication[], signer = 0, overrides: Partial<Proposal> = {}) {
  const [first] = nodes as [TestApplication];
  const proposal = proposalBy(first, signer, overrides);
  const input = inputOf(proposal, first.application.prepareProposal({ ...proposal, maxTxBytes: 1 << 20 }));
  const results = nodes.map(({ application }) => {
    assert.ok(application.processProposal(input));
    const result = application.finalizeBlock(input);
    application.commit();
    return result;
  });
  for (const result of results) assert.deepEqual(result, results[0]);
  return results[0]!;
}

/** The blocks of `from` in a node that imports them from a chain file. */
function importInto(node: TestApplication, { chain }: TestApplication): void {
  for (let number = 1; number <= chain.head().block.header.number; number++) {
    const bytes = exportFileBlock(chain, number);
    const hasData = bytes[0]! < 0xc0;
    const data = hasData ? chain.consensusDataOf(number) : new Uint8Array(0);
    const at = hasData ? bytes.length - encodedLength(chain, number) : 0;
    if (hasData) assert.deepEqual(decodeRlp(bytes.subarray(0, at)), data);
    importFileBlock(node.chain, { block: decodeBlockAt(bytes, at).block, consensusData: data }, node.execution);
  }
  assert.equal(node.chain.head().block.hash, chain.head().block.hash);
}

function encodedLength(chain: TestApplication["chain"], number: number): number {
  const stripped = { block: chain.block, consensusDataOf: () => new Uint8Array(0), accessList: () => undefined };
  const bytes = exportFileBlock(stripped, number);
  return bytes.length;
}

test("an agreed gas limit and least tip bind every proposer from the next block on, also on import", () => {
  const [node, other] = [openNode(), openNode()];
  node.voting.proposeParameter({ name: "gasLimit", value: 60_000_000n });
  node.voting.proposeParameter({ name: "minimumTip", value: 5n });
  decide([node, other]);
  assert.equal(node.chain.config.gasLimitTarget, 60_000_000n);
  decide([node, other]);
  assert.equal(other.chain.config.minimumTip, 5n);
  const limit = node.chain.head().block.header.gasLimit;
  assert.ok(limit > GAS_LIMIT);

  const proposal = proposalBy(node, 0);
  const block = (gasLimit: bigint, txs: readonly Uint8Array[] = []) => {
    const data = decodeProposerData(node.application.prepareProposal({ ...proposal, maxTxBytes: 1 << 20 })[0]);
    return inputOf(proposal, [encodeProposerData({ ...data, gasLimit }), ...txs]);
  };
  const agreed = limit + limit / 1024n - 1n;
  assert.ok(other.application.processProposal(block(agreed)));
  assert.ok(!other.application.processProposal(block(limit)));
  assert.throws(() => other.application.finalizeBlock(block(limit)), { code: "BLOCK_INVALID_GASLIMIT" });
  const tip = (maxPriorityFeePerGas: bigint) => transferOf(0, 0, { maxPriorityFeePerGas }).raw;
  assert.ok(other.application.processProposal(block(agreed, [tip(5n)])));
  assert.ok(!other.application.processProposal(block(agreed, [tip(4n)])));
  importInto(openNode(), node);
});

test("a voted fork begins at its time, survives a restart, and is undone with the block that decided it", () => {
  const options = { osakaTime: NO_OSAKA };
  const [node, other] = [openNode(options), openNode(options)];
  assert.throws(() => node.voting.proposeParameter({ name: "osakaTime", value: BigInt(GENESIS_TIME + 1) }), {
    code: "CLIQUE_PARAMETER_REFUSED",
  });
  node.voting.proposeParameter({ name: "osakaTime", value: BigInt(FORK) });
  decide([node, other]);
  assert.equal(other.chain.config.osakaTime, FORK);
  const { forkHash } = decodeProposerData(
    node.application.prepareProposal({ ...proposalBy(node, 0), maxTxBytes: 1 << 20 })[0],
  );
  assert.ok(forkHash);
  decide([node, other], 0, { time: { seconds: FORK, nanos: 0 } });
  importInto(openNode(options), node);
  assert.throws(() => node.voting.proposeParameter({ name: "osakaTime", value: 0n }), {
    code: "CLIQUE_PARAMETER_REFUSED",
  });
  node.chain.rollbackTo(1);
  assert.equal(node.chain.config.osakaTime, FORK);
  node.chain.rollbackTo(0);
  assert.equal(node.chain.config.osakaTime, NO_OSAKA);
});

test("Amsterdam begins by a vote where its contracts are, and every validator has the slots and access lists of its blocks", () => {
  const fork = { name: "amsterdamTime", value: BigInt(FORK) };
  assert.throws(() => openNode().voting.proposeParameter(fork), {
    code: "CLIQUE_PARAMETER_REFUSED",
    message: /EIP-8282/,
  });
  const queue: GenesisAccount = { balance: 0n, nonce: 1n, code: Uint8Array.of(0x5f, 0x5f, 0xf3) };
  const contracts = REQUEST_CONTRACTS.map(({ address }): [Address, GenesisAccount] => [address, queue]);
  const options = { genesis: { ...GENESIS, alloc: new Map([...GENESIS.alloc, ...contracts]) } };
  const low = openNode({ ...options, gasLimit: AMSTERDAM_GAS_LIMIT_MIN - 1n });
  assert.throws(() => low.voting.proposeParameter(fork), {
    code: "CLIQUE_PARAMETER_REFUSED",
    message: /access lists/,
  });
  const nodes = [openNode(options), openNode(options)];
  const [node, other] = nodes as [TestApplication, TestApplication];
  node.voting.proposeParameter(fork);
  decide(nodes);
  assert.equal(node.chain.head().block.header.slotNumber, undefined);
  node.mempool.add({ tx: transferOf(0, 0, { value: 5n }) });
  decide(nodes, 0, { time: { seconds: FORK, nanos: 0 } });
  decide(nodes, 0, { time: { seconds: FORK + 1, nanos: 0 } });
  for (const number of [2, 3]) {
    const { slotNumber, blockAccessListHash } = other.chain.header(number)!;
    assert.equal(slotNumber, BigInt(number));
    const list = other.chain.accessList(number)!;
    assert.equal(keccak256Hash(list), blockAccessListHash);
    assert.deepEqual(list, node.chain.accessList(number));
  }
  const accessed = decodeBlockAccessList(other.chain.accessList(2)!).map(({ address }) => address);
  assert.ok(accessed.includes(ACCOUNTS[0]!));
  const late = openNode(options);
  importInto(late, node);
  assert.deepEqual(late.chain.accessList(2), node.chain.accessList(2));
  node.chain.rollbackTo(1);
  assert.equal(node.chain.accessList(2), undefined);
});

test("a fork that was taken back does not begin at the time of the genesis file either", () => {
  const nodes = [openNode({ osakaTime: FORK }), openNode({ osakaTime: FORK })];
  const [node] = nodes as [TestApplication];
  node.voting.proposeParameter({ name: "osakaTime", value: BigInt(FORK + 100) });
  decide(nodes);
  node.voting.proposeParameter({ name: "osakaTime", value: 0n });
  decide(nodes, 0, { time: { seconds: FORK + 1, nanos: 0 } });
  for (const { chain } of nodes) assert.equal(chain.config.osakaTime, undefined);
  decide(nodes, 0, { time: { seconds: FORK + 200, nanos: 0 } });
  importInto(openNode({ osakaTime: FORK }), node);
});

test("a program that does not know a voted fork counts the vote, and executes no block after its time", () => {
  const [node, older] = [openNode(), openNode()];
  node.voting.proposeParameter({ name: "bpo1Time", value: BigInt(FORK) });
  const fields = TIME_FORK_FIELDS as unknown as string[];
  const proposal = proposalBy(node, 0);
  const txs = node.application.prepareProposal({ ...proposal, maxTxBytes: 1 << 20 });
  node.application.finalizeBlock(inputOf(proposal, txs));
  node.application.commit();
  const at = fields.indexOf("bpo1Time");
  fields.splice(at, 1);
  try {
    assert.ok(older.application.processProposal(inputOf(proposal, txs)));
    older.application.finalizeBlock(inputOf(proposal, txs));
    older.application.commit();
    assert.deepEqual(older.chain.config.unknownFork, { name: "bpo1Time", time: FORK });
    const before = inputOf(proposalBy(older, 0), [encodeProposerData(plainData(older))]);
    assert.ok(older.application.processProposal(before));
    const time = { seconds: FORK, nanos: 0 };
    const input = inputOf(proposalBy(older, 0, { time }), [encodeProposerData(plainData(older))]);
    assert.ok(!older.application.processProposal(input));
    assert.throws(() => older.application.finalizeBlock(input), { code: "CONSENSUS_UNKNOWN_FORK" });
    assert.equal(older.application.info().height, 1);
  } finally {
    fields.splice(at, 0, "bpo1Time");
  }
});

function plainData({ chain }: TestApplication) {
  const { gasLimit } = chain.head().block.header;
  return { feeRecipient: ACCOUNTS[0]!, extraData: new Uint8Array(0), gasLimit };
}

test("votes on unknown rules, and of newer programs, are rejected with the reason", () => {
  const node = openNode();
  const unknown = encodeProposerData({ ...plainData(node), parameterVote: { name: "colour", value: 1n } });
  const input = inputOf(proposalBy(node, 0), [unknown]);
  assert.ok(!node.application.processProposal(input));
  assert.throws(() => node.application.finalizeBlock(input), { code: "CONSENSUS_UNKNOWN_PARAMETER" });
  const newer = Uint8Array.from(unknown);
  newer[newer.indexOf(3)] = 4;
  assert.throws(() => decodeProposerData(newer), {
    code: "INVALID_PROPOSER_DATA",
    details: { version: 4, newest: 3 },
  });
});

test("proposer data and consensus data with votes about rules decode only from their canonical encoding", () => {
  const node = openNode();
  const parameterVote = { name: "osakaTime", value: 2n ** 40n };
  for (const forkHash of [undefined, Uint8Array.of(1, 2, 3, 4)]) {
    const data = { ...plainData(node), parameterVote, ...(forkHash && { forkHash }) };
    const bytes = encodeProposerData(data);
    assert.deepEqual(decodeProposerData(bytes), data);
    for (let at = 1; at < bytes.length; at++) {
      assert.throws(() => decodeProposerData(bytes.subarray(0, at)), { code: "INVALID_PROPOSER_DATA" });
    }
  }
  const startingSet = { initialHeight: 1, signers: SIGNERS.toSorted((a, b) => (a.address < b.address ? -1 : 1)) };
  const vote = { candidate: ACCOUNTS[1]!, authorize: false, publicKey: new Uint8Array(0) };
  const offences = [{ address: ACCOUNTS[2]!, height: 7 }];
  const base = { consensusHash: `0x${"1".repeat(64)}` as never, proposer: ACCOUNTS[0]!, nanos: 1, parentRound: 0 };
  for (const cast of [
    { vote, startingSet },
    { parameterVote, startingSet },
    { vote, parameterVote, startingSet },
    { offences, startingSet },
    { vote, offences, startingSet },
    { vote, parameterVote, offences, startingSet },
  ]) {
    assert.deepEqual(decodeConsensusData(encodeConsensusData({ ...base, cast })), { ...base, cast });
  }
});

test("jail: evidence removes a validator with the block it is in, on import too; without it in the genesis nothing happens", () => {
  const misbehavior: Misbehavior[] = [{ kind: "duplicateVote", address: ACCOUNTS[3]!, height: 1 }];
  const lenient = [openNode({}, SIGNERS)];
  decide(lenient);
  assert.deepEqual(decide(lenient, 0, { misbehavior }).validatorUpdates, []);

  const strict = [openNode({ jail: true }, SIGNERS), openNode({ jail: true }, SIGNERS)] as const;
  decide(strict);
  const { validatorUpdates } = decide(strict, 0, { misbehavior });
  assert.deepEqual(validatorUpdates, [{ ...SIGNERS[3], power: 0 }]);
  assert.deepEqual(decide(strict, 0, { misbehavior }).validatorUpdates, []);
  const { signers, jailed } = strict[1].voting.snapshotAt(3);
  assert.equal(signers.length, 3);
  assert.deepEqual(jailed, [{ address: ACCOUNTS[3]!, block: 2 }]);
  const third: Misbehavior[] = [{ kind: "duplicateVote", address: ACCOUNTS[2]!, height: 3 }];
  assert.deepEqual(decide(strict, 0, { misbehavior: third }).validatorUpdates, []);
  importInto(openNode({ jail: true }, SIGNERS), strict[0]);
});

test("a proposal of the same transactions with other evidence is another block", () => {
  const [node, other] = [openNode({ jail: true }, SIGNERS), openNode({ jail: true }, SIGNERS)];
  const misbehavior: Misbehavior[] = [{ kind: "duplicateVote", address: ACCOUNTS[3]!, height: 1 }];
  const proposal = proposalBy(node, 0);
  const txs = node.application.prepareProposal({ ...proposal, maxTxBytes: 1 << 20 });
  const proven = inputOf({ ...proposal, misbehavior }, txs);
  const { appHash } = node.application.finalizeBlock(proven);
  assert.equal(other.application.finalizeBlock(proven).appHash, appHash);
  assert.notEqual(other.application.finalizeBlock(inputOf(proposal, txs)).appHash, appHash);
});

test("proposals about rules are stored, bounded, and a file of something else is an error", () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-parameters-"));
  const path = join(directory, "proposals.json");
  const proposals = new ParameterProposals(path);
  proposals.propose({ name: "osakaTime", value: 7n });
  proposals.propose({ name: "gasLimit", value: 1n });
  proposals.propose({ name: "osakaTime", value: 8n });
  assert.deepEqual(new ParameterProposals(path).all(), [
    { name: "gasLimit", value: 1n },
    { name: "osakaTime", value: 8n },
  ]);
  for (let i = 0; i < 14; i++) proposals.propose({ name: `f${i}Time`, value: 1n });
  assert.throws(() => proposals.propose({ name: "xTime", value: 1n }), { code: "CLIQUE_TOO_MANY_PROPOSALS" });
  proposals.discard("gasLimit");
  assert.equal(new ParameterProposals(path).all().length, 15);
  rmSync(directory, { recursive: true });
});

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Address, parseAddress } from "../../src/base/primitives/address.ts";
import { keccak256 } from "../../src/base/primitives/keccak.ts";
import { createFailures } from "../../src/base/telemetry/failures.ts";
import { createMetrics } from "../../src/base/telemetry/metrics.ts";
import type { ExecutedBlock } from "../../src/base/types/block.ts";
import { encodeBlockAccessList } from "../../src/base/types/block-access-list.ts";
import { createChain, importBlock } from "../../src/chain/chain.ts";
import { createChainStateTrie } from "../../src/chain/chain-state-trie.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../src/chain/records/block-record.ts";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import type { Snapshot } from "../../src/consensus/application.ts";
import { type ConsensusData, encodeConsensusData } from "../../src/consensus/consensus-data.ts";
import { type ConsensusDataSource, SnapshotRestore } from "../../src/consensus/state-sync/restore.ts";
import { SnapshotFiles } from "../../src/consensus/state-sync/snapshot-files.ts";
import {
  describeSnapshot,
  hashOfChunk,
  SNAPSHOT_FORMAT,
  unpackBlock,
} from "../../src/consensus/state-sync/snapshot-format.ts";
import { createSnapshots } from "../../src/consensus/state-sync/snapshots.ts";
import type { GovernanceInBlock } from "../../src/consensus/voting/block-effect.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { executionModules } from "../../src/node/roles/chain/execution-modules.ts";
import { isSnapshotAlone } from "../../src/node/roles/chain/unfinished-sync.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { plain } from "../support/chain/plain.ts";
import { packChunk, packChunks, unpackChunks } from "../support/consensus/state-sync/chunks.ts";
import { consensusDataIn } from "../support/consensus/state-sync/consensus-data-in.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

/** Stores the number of the block in the slot of that number, and BLOCKHASH of 20 blocks before in the slot 1000 beyond. */
const RECORDER = "0x4343556014430340436103e80155";
/** Init code of 12 bytes that deploys `code`. */
const deploy = (code: string) => {
  const size = (code.length - 2) / 2;
  return `0x60${size.toString(16).padStart(2, "0")}600c60003960${size.toString(16).padStart(2, "0")}6000f3${code.slice(2)}`;
};

const SENDER = DEV_ADDRESSES[0];
const folder = mkdtempSync(join(tmpdir(), "evmint-state-sync-"));
const files = new SnapshotFiles(join(folder, "snapshots"));
let running: TestNode;
let recorder: string;
let snapshot: Snapshot;
let chunks: readonly Uint8Array[];

function request<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
  return running.node.provider.request({ method, params }) as Promise<T>;
}

async function block(transaction: object): Promise<void> {
  await request("eth_sendTransaction", { from: SENDER, gas: "0x7a120", ...transaction });
  running.produceBlock();
}

before(async () => {
  running = await startTestNode({
    dev: true,
    settings: { "consensus.block-time": "manual", "snapshot.interval": "25", hardfork: "amsterdam" },
  });
  await block({ data: deploy(RECORDER) });
  const { contractAddress } = (await request<{ contractAddress: string }[]>("eth_getBlockReceipts", "latest"))[0]!;
  recorder = contractAddress;
  for (let number = 2; number <= 30; number++) await block({ to: recorder });
  const { chain, store } = running.node.core;
  const metrics = createMetrics();
  const snapshots = createSnapshots(
    { interval: 0, chunkBytes: 2_000 },
    {
      chain,
      files,
      metrics,
      log: STRICT_LOGGER,
      store,
      failures: createFailures(STRICT_LOGGER, metrics),
    },
  );
  await snapshots.take();
  for (let number = 31; number <= 34; number++) await block({ to: recorder });
  snapshot = files.list()[0]!;
  chunks = Array.from({ length: snapshot.chunks }, (_, index) =>
    Uint8Array.from(files.chunk(30, SNAPSHOT_FORMAT, index)),
  );
});

after(async () => {
  await running.stop();
  rmSync(folder, { recursive: true });
});

let copies = 0;
function openRestore() {
  const directory = join(folder, `copy-${copies++}`, "data");
  const { config } = running.node.core.chain;
  const modules = { source: consensusDataIn(running.node.core.chain), log: STRICT_LOGGER };
  return { directory, restore: new SnapshotRestore({ directory, config }, modules) };
}

async function applyAll(restore: SnapshotRestore, all: readonly Uint8Array[]) {
  const results: string[] = [];
  for (const [index, chunk] of all.entries()) {
    results.push((await restore.applySnapshotChunk(index, chunk, "peer")).result);
  }
  return results;
}

const appHash = () => running.node.core.chain.blockHash(30)!;

test("a snapshot restores the state of its block, and the chain goes on from there", async () => {
  assert.equal(snapshot.height, 30);
  assert.ok(snapshot.chunks > 5);
  const { directory, restore } = openRestore();
  assert.equal(restore.offerSnapshot(snapshot, appHash()), "accept");
  for (const [index, chunk] of chunks.entries()) {
    assert.equal(existsSync(directory), false);
    assert.equal((await restore.applySnapshotChunk(index, chunk, "peer")).result, "accept");
  }
  assert.deepEqual(restore.info(), { height: 30, appHash: appHash(), appVersion: 1 });
  assert.equal(restore.offerSnapshot(snapshot, appHash()), "abort");

  assert.equal(isSnapshotAlone(directory), true);
  const { chain: origin } = running.node.core;
  const store = openDiskBlockStore({ defer: deferNothing, directory, createTrie: createStateTrie });
  try {
    assert.deepEqual(store.check().faults, []);
    const stateTrie = createChainStateTrie(store, {});
    const { config, genesisHash } = origin;
    const chain = createChain({ config, store, stateTrie, log: STRICT_LOGGER, genesisHash });
    const parts = ({ block, senders, receipts }: ExecutedBlock) => plain({ block, senders, receipts });
    assert.deepEqual(parts(chain.head()), parts(origin.block(30)!));
    assert.throws(() => chain.header(29), { code: "BLOCK_PRUNED" });
    assert.equal(chain.blockHash(29), origin.blockHash(29));
    assert.throws(() => chain.stateAt(29), { code: "BLOCK_PRUNED" });
    // These blocks read the hashes of blocks that the restored store has not.
    for (let number = 31; number <= 34; number++) {
      importBlock(chain, origin.block(number)!.block, executionModules(chain));
    }
    assert.equal(chain.head().block.hash, origin.blockHash(34));
    const slots = (of: typeof chain) => [...of.stateAt(34).storageEntries(parseAddress(recorder))].sort();
    assert.deepEqual(slots(chain), slots(origin));
    assert.equal(slots(chain).length, 33 + 15);
  } finally {
    store.close();
  }
  assert.equal(isSnapshotAlone(directory), false);
});

test("a process that dies while the index is made goes on there: the parts of the state are not read again", async () => {
  const { directory, restore } = openRestore();
  restore.offerSnapshot(snapshot, appHash());
  assert.ok((await applyAll(restore, chunks)).every((result) => result === "accept"));
  // As the process leaves it that dies in the index: without its rows, and before the folder gets its name.
  const unfinished = `${directory}.restoring`;
  renameSync(directory, unfinished);
  rmSync(join(unfinished, "index"), { recursive: true });
  const { config } = running.node.core.chain;
  const modules = { source: consensusDataIn(running.node.core.chain), log: STRICT_LOGGER };
  const again = new SnapshotRestore({ directory, config }, modules);
  // Parts of another content, which is not looked at.
  const other = chunks.map((chunk, index) => (index === 0 ? chunk : Uint8Array.of(index)));
  assert.equal(again.offerSnapshot(describeSnapshot(30, other.map(hashOfChunk)), appHash()), "accept");
  const bad = await again.applySnapshotChunk(0, Uint8Array.of(1), "liar");
  assert.deepEqual(bad, { result: "retry", refetchChunks: [0], rejectSenders: ["liar"] });
  assert.ok((await applyAll(again, other)).every((result) => result === "accept"));
  assert.deepEqual(again.restored(), { height: 30, appHash: appHash() });
  assert.equal(existsSync(unfinished), false);
  const store = openDiskBlockStore({ defer: deferNothing, directory, createTrie: createStateTrie });
  assert.deepEqual(store.check().faults, []);
  assert.equal(store.header(30)!.stateRoot, running.node.core.chain.header(30)!.stateRoot);
  store.close();

  // Of another block it is of no use.
  renameSync(directory, unfinished);
  const fresh = new SnapshotRestore({ directory, config }, modules);
  assert.equal(fresh.offerSnapshot(snapshot, running.node.core.chain.blockHash(29)!), "accept");
  assert.equal((await fresh.applySnapshotChunk(0, chunks[0]!, "peer")).result, "rejectSnapshot");
});

test("a chunk that is damaged, or comes from another place, is fetched again from another peer", async () => {
  const { restore } = openRestore();
  restore.offerSnapshot(snapshot, appHash());
  const retry = (index: number) => ({
    result: "retry",
    refetchChunks: [index],
    rejectSenders: ["peer"],
  });
  for (const [index, chunk] of chunks.entries()) {
    const damaged = chunk.slice();
    damaged[index % damaged.length]! ^= 1;
    assert.deepEqual(await restore.applySnapshotChunk(index, damaged, "peer"), retry(index));
    assert.deepEqual(await restore.applySnapshotChunk(index, new Uint8Array(), "peer"), retry(index));
    if (index > 0) {
      assert.deepEqual(await restore.applySnapshotChunk(index, chunks[0]!, "peer"), retry(index));
    }
    assert.equal((await restore.applySnapshotChunk(index, chunk, "peer")).result, "accept");
  }
  assert.notEqual(restore.restored(), undefined);
});

test("a snapshot whose description contradicts itself or is of another format is not restored", async () => {
  const { restore } = openRestore();
  const offers: readonly (readonly [Partial<Snapshot>, string])[] = [
    [{ format: SNAPSHOT_FORMAT - 1 }, "rejectFormat"],
    [{ chunks: snapshot.chunks + 1 }, "rejectSender"],
    [{ chunks: 0, metadata: new Uint8Array() }, "rejectSender"],
    [{ hash: keccak256(new Uint8Array()) }, "rejectSender"],
    [{ metadata: snapshot.metadata.subarray(32) }, "rejectSender"],
  ];
  for (const [change, result] of offers) {
    assert.equal(restore.offerSnapshot({ ...snapshot, ...change }, appHash()), result);
  }
  assert.equal((await restore.applySnapshotChunk(0, chunks[0]!, "peer")).result, "abort");
});

test("a snapshot with other contents than its app hash vouches for is rejected, and leaves nothing", async () => {
  const { contents, proofs } = unpackChunks(chunks);
  /** The snapshot with one chunk replaced, whose description agrees with it. */
  function forged(index: number, edit: (content: Uint8Array) => Uint8Array) {
    const made = packChunks(contents.with(index, edit(contents[index]!)), proofs);
    return { made, offer: describeSnapshot(30, made.map(hashOfChunk)) };
  }
  const flip = (at: number) => (content: Uint8Array) => {
    const copy = content.slice();
    copy[at]! ^= 1;
    return copy;
  };
  const forgeries = [
    forged(0, flip(70)),
    forged(0, flip(20)),
    forged(0, (content) => content.subarray(0, content.length - 40)),
    forged(1, flip(12)),
    forged(2, () => Uint8Array.of(0, 0)),
    forged(chunks.length - 1, (content) => content.subarray(1)),
  ];
  for (const [index, { made, offer }] of forgeries.entries()) {
    const { directory, restore } = openRestore();
    assert.equal(restore.offerSnapshot(offer, appHash()), "accept");
    const results = await applyAll(restore, made);
    assert.ok(results.includes("rejectSnapshot"), `forgery ${index}`);
    assert.equal(restore.restored(), undefined);
    assert.equal(existsSync(directory), false);
    assert.equal(existsSync(`${directory}.restoring`), false);
  }
  const { restore } = openRestore();
  restore.offerSnapshot(snapshot, running.node.core.chain.blockHash(29)!);
  assert.equal((await restore.applySnapshotChunk(0, chunks[0]!, "peer")).result, "rejectSnapshot");
});

test("a snapshot may say of its block what the network does: votes, and of the offences that the block proves those that had an effect", async () => {
  const { chain } = running.node.core;
  const own = await consensusDataIn(chain).consensusDataOf(30);
  const startingSet = { initialHeight: 1, signers: [{ address: recorder as Address, publicKey: new Uint8Array(33) }] };
  const vote = { candidate: recorder as Address, authorize: false, publicKey: new Uint8Array() };
  const parameterVote = { name: "gasLimit", value: 45_000_000n };
  const offences = [5, 6, 7].map((height) => ({ address: recorder as Address, height }));
  const withCast = (cast: Partial<GovernanceInBlock>) => ({ ...own, cast: { ...cast, startingSet } });
  const cases: readonly [isTaken: boolean, said: ConsensusData, known: ConsensusData][] = [
    [true, withCast({ vote }), withCast({ vote })],
    [true, withCast({ parameterVote }), withCast({ parameterVote })],
    [true, withCast({ vote, parameterVote, offences }), withCast({ vote, parameterVote, offences })],
    [true, withCast({ offences: offences.slice(1) }), withCast({ offences })],
    [true, withCast({ vote }), withCast({ vote, offences })],
    [true, own, withCast({ offences })],
    [false, withCast({ offences: offences.toReversed() }), withCast({ offences })],
    [false, withCast({ vote, offences }), withCast({ vote, offences: offences.slice(1) })],
    [false, withCast({ parameterVote }), withCast({ vote })],
    [false, withCast({ parameterVote }), own],
    [false, own, withCast({ parameterVote })],
  ];
  const content = decodeBlockRecord(unpackBlock(chunks[0]!));
  for (const [index, [isTaken, said, known]] of cases.entries()) {
    const record = {
      ...content,
      changes: { accounts: [], codes: new Map() },
      consensusData: encodeConsensusData(said),
    };
    const made = chunks.with(0, packChunk(encodeBlockRecord(record, new Set()), 0));
    const restore = new SnapshotRestore(
      { directory: join(folder, `copy-${copies++}`, "data"), config: chain.config },
      { source: { consensusDataOf: async () => known }, log: STRICT_LOGGER },
    );
    assert.equal(restore.offerSnapshot(describeSnapshot(30, made.map(hashOfChunk)), appHash()), "accept");
    const { result } = await restore.applySnapshotChunk(0, made[0]!, "peer");
    assert.equal(result, isTaken ? "accept" : "rejectSnapshot", `case ${index}`);
  }
});

test("a snapshot whose access list is another one than the block's, or missing, is rejected", async () => {
  const { chain } = running.node.core;
  const content = decodeBlockRecord(unpackBlock(chunks[0]!));
  assert.deepEqual(plain(content.accessList), plain(chain.accessList(30)));
  for (const accessList of [
    undefined,
    encodeBlockAccessList([]),
    content.accessList!.subarray(1),
    content.accessList,
  ]) {
    const record = { ...content, changes: { accounts: [], codes: new Map() }, accessList };
    const made = chunks.with(0, packChunk(encodeBlockRecord(record, new Set()), 0));
    const { restore } = openRestore();
    assert.equal(restore.offerSnapshot(describeSnapshot(30, made.map(hashOfChunk)), appHash()), "accept");
    const { result } = await restore.applySnapshotChunk(0, made[0]!, "peer");
    assert.equal(result, accessList === content.accessList ? "accept" : "rejectSnapshot");
  }
});

/** A source that answers when the test says so. */
function pendingSource() {
  const { consensusDataOf } = consensusDataIn(running.node.core.chain);
  const asked: { height: number; answer(): void; fail(error: Error): void }[] = [];
  const source: ConsensusDataSource = {
    consensusDataOf: (height) =>
      new Promise((resolve, fail) => {
        asked.push({ height, answer: () => resolve(consensusDataOf(height)), fail });
      }),
  };
  const directory = join(folder, `copy-${copies++}`, "data");
  const { config } = running.node.core.chain;
  const options = { directory, config };
  return { asked, restore: new SnapshotRestore(options, { source, log: STRICT_LOGGER }) };
}

test("without a source of consensus data no snapshot is accepted or rejected, and the next run of CometBFT begins anew", async () => {
  const { asked, restore } = pendingSource();
  const failure = new Error("no server answers");
  restore.offerSnapshot(snapshot, appHash());
  const first = restore.applySnapshotChunk(0, chunks[0]!, "peer");
  assert.equal(asked[0]!.height, 30);
  asked[0]!.fail(failure);
  await assert.rejects(first, failure);
  assert.equal((await restore.applySnapshotChunk(1, chunks[1]!, "peer")).result, "abort");

  assert.equal(restore.offerSnapshot(snapshot, appHash()), "accept");
  const second = restore.applySnapshotChunk(0, chunks[0]!, "peer");
  asked[1]!.answer();
  assert.equal((await second).result, "accept");
  for (const [index, chunk] of chunks.entries()) {
    if (index === 0) continue;
    assert.equal((await restore.applySnapshotChunk(index, chunk, "peer")).result, "accept");
  }
  assert.equal(asked.length, 2);
  assert.equal(restore.restored()?.height, 30);
});

test("an answer about a snapshot that another offer has replaced changes nothing", async () => {
  const { asked, restore } = pendingSource();
  restore.offerSnapshot(snapshot, appHash());
  const first = restore.applySnapshotChunk(0, chunks[0]!, "first");
  assert.equal((await restore.applySnapshotChunk(1, chunks[1]!, "first")).result, "abort");
  restore.offerSnapshot(snapshot, appHash());
  const second = restore.applySnapshotChunk(0, chunks[0]!, "second");
  asked[0]!.answer();
  assert.equal((await first).result, "abort");
  asked[1]!.answer();
  assert.equal((await second).result, "accept");
  assert.equal((await restore.applySnapshotChunk(1, chunks[1]!, "second")).result, "accept");
});

test("snapshot.interval: a node takes snapshots in the background and stores the newest two", async () => {
  const own = new SnapshotFiles(join(running.home, "data", "snapshots"));
  assert.deepEqual(
    own.list().map(({ height }) => height),
    [25],
  );
  const { application } = running.node.core.production;
  assert.deepEqual(
    application.listSnapshots().map(({ height }) => height),
    [25],
  );
  const { chunks: count, height } = application.listSnapshots()[0]!;
  assert.ok(application.loadSnapshotChunk(height, SNAPSHOT_FORMAT, count - 1).length > 0);
  assert.equal(application.loadSnapshotChunk(height, SNAPSHOT_FORMAT, count).length, 0);
  assert.equal(application.loadSnapshotChunk(height, SNAPSHOT_FORMAT + 1, 0).length, 0);
  assert.equal(application.loadSnapshotChunk(height + 1, SNAPSHOT_FORMAT, 0).length, 0);

  const kept = new SnapshotFiles(join(folder, "kept"));
  async function* one(content: number) {
    yield Uint8Array.of(content);
  }
  for (const number of [1, 2, 10]) await kept.write(number, one(number));
  assert.deepEqual(
    kept.list().map((each) => each.height),
    [10, 2],
  );
  async function* failing() {
    yield Uint8Array.of(1);
    throw new Error("disk full");
  }
  await assert.rejects(kept.write(11, failing()));
  assert.deepEqual(readdirSync(join(folder, "kept")).sort(), [`10-${SNAPSHOT_FORMAT}`, `2-${SNAPSHOT_FORMAT}`]);
});

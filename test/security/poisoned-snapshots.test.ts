import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ChainConfig } from "../../src/base/params/chain-config.ts";
import { concatBytes } from "../../src/base/primitives/bytes.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { createFailures } from "../../src/base/telemetry/failures.ts";
import { createMetrics } from "../../src/base/telemetry/metrics.ts";
import { type ConsensusData, decodeConsensusData } from "../../src/consensus/consensus-data.ts";
import { SnapshotRestore } from "../../src/consensus/state-sync/restore.ts";
import { SnapshotFiles } from "../../src/consensus/state-sync/snapshot-files.ts";
import { describeSnapshot, hashOfChunk, SNAPSHOT_FORMAT } from "../../src/consensus/state-sync/snapshot-format.ts";
import { createSnapshots } from "../../src/consensus/state-sync/snapshots.ts";
import { ByteReader } from "../../src/store/storage/byte-io.ts";
import { prefixRange } from "../../src/store/storage/kv.ts";
import { openLmdbKv } from "../../src/store/storage/lmdb/lmdb-kv.ts";
import { TABLE } from "../../src/store/storage/schema.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { type Contents, packChunk, packChunks, unpackChunks } from "../support/consensus/state-sync/chunks.ts";
import { poisons } from "../support/consensus/state-sync/poison.ts";
import { startTestNode } from "../support/test-node.ts";

/** Init code that stores the number after that of each slot in slots 0 to 5, and deploys STOP and the byte `suffix`. */
const filled = (suffix: string) => `0x5f5b80600101815560010180600611600157506100${suffix}5f526002601ef3`;

const folder = mkdtempSync(join(tmpdir(), "evmint-poison-"));
const home = join(folder, "home");
const HEIGHT = 4;
let config: ChainConfig;
let appHash: Hash;
/** Of the block, as the network has it. */
let consensusData: ConsensusData;
/** Of a good snapshot, before compression. */
let contents: readonly Uint8Array[];
let proofs: Contents["proofs"];

before(async () => {
  const running = await startTestNode({
    dev: true,
    home,
    settings: { "consensus.block-time": "manual" },
  });
  const { chain, store } = running.node.core;
  const send = (transaction: object) =>
    running.node.provider.request({
      method: "eth_sendTransaction",
      params: [{ from: DEV_ADDRESSES[0], gas: "0x2dc6c0", ...transaction }],
    });
  for (let number = 1; number < HEIGHT; number++) {
    await send({ data: filled("11") });
    await send({ data: filled(number === 1 ? "22" : "33") });
    running.produceBlock();
  }
  // A transfer, a creation that fails, a log and an access list.
  await send({ to: DEV_ADDRESSES[1], value: "0x1" });
  await send({ data: "0xfe" });
  await send({
    data: "0x60015f5fa100",
    accessList: [{ address: DEV_ADDRESSES[2], storageKeys: [] }],
  });
  running.produceBlock();
  const files = new SnapshotFiles(join(folder, "snapshots"));
  const metrics = createMetrics();
  await createSnapshots(
    { interval: 0, chunkBytes: 1_400 },
    {
      chain,
      files,
      metrics,
      log: STRICT_LOGGER,
      store,
      failures: createFailures(STRICT_LOGGER, metrics),
    },
  ).take();
  ({ config } = chain);
  consensusData = decodeConsensusData(chain.consensusDataOf(HEIGHT))!;
  appHash = chain.blockHash(HEIGHT)!;
  const { chunks } = files.list()[0]!;
  ({ contents, proofs } = unpackChunks(
    Array.from({ length: chunks }, (_, index) => files.chunk(HEIGHT, SNAPSHOT_FORMAT, index)),
  ));
  await running.stop();
});

after(() => rmSync(folder, { recursive: true }));

function openRestore(name: string) {
  const directory = join(folder, name);
  const restore = new SnapshotRestore(
    { directory, config },
    { source: { consensusDataOf: async () => consensusData }, log: STRICT_LOGGER },
  );
  /** The last result. */
  const offer = async (chunks: readonly Uint8Array[]) => {
    assert.equal(restore.offerSnapshot(describeSnapshot(HEIGHT, chunks.map(hashOfChunk)), appHash), "accept");
    for (const [index, chunk] of chunks.entries()) {
      const answer = await restore.applySnapshotChunk(index, chunk, `peer ${index % 2}`);
      if (answer.result !== "accept") return answer;
    }
    return undefined;
  };
  return { directory, restore, offer };
}

test("a snapshot with any field changed is rejected with its senders, and the next good one is restored", async (t) => {
  let { restore, offer } = openRestore("poisoned");
  const packed = packChunks(contents, proofs);
  let count = 0;
  const begin = performance.now();
  const accepted: string[] = [];
  const expected = { result: "rejectSnapshot", refetchChunks: [] };
  const check = async (name: string, chunks: readonly Uint8Array[]) => {
    count++;
    const answer = await offer(chunks);
    if (answer === undefined) {
      accepted.push(name);
      ({ restore, offer } = openRestore(`accepted-${count}`));
      return;
    }
    const { rejectSenders, ...rest } = answer;
    assert.deepEqual(rest, expected, name);
    assert.ok(rejectSenders.length > 0, name);
  };
  for (const poison of poisons(contents)) {
    const chunks = poison.contents.map((content, at) => {
      const index = contents.indexOf(content);
      // A part keeps its proof where it is in another place.
      return index < 0 || (index === 0) !== (at === 0) ? packChunk(content, at, proofs[at]) : packed[index]!;
    });
    await check(poison.name, chunks);
    assert.ok(accepted.length < 20, accepted.join("\n"));
  }
  for (const index of packed.keys()) {
    await check(`bytes after chunk ${index}`, packed.with(index, concatBytes(packed[index]!, Uint8Array.of(1))));
    await check(`chunk ${index} cut`, packed.with(index, packed[index]!.subarray(0, -1)));
    await check(`chunk ${index} empty`, packed.with(index, new Uint8Array()));
  }
  for (const [index, proof] of proofs.entries()) {
    // The last part has none.
    if (proof.length === 0) continue;
    const withProof = (changed: readonly Uint8Array[]) =>
      packed.with(index, packChunk(contents[index]!, index, changed));
    await check(`no proof in chunk ${index}`, withProof([]));
    await check(`a node more in chunk ${index}`, withProof([...proof, proof[0]!]));
    for (const [at, node] of proof.entries()) {
      await check(`no node ${at} in chunk ${index}`, withProof(proof.toSpliced(at, 1)));
      await check(`node ${at} twice in chunk ${index}`, withProof(proof.toSpliced(at, 0, node)));
      const flipped = node.map((byte, i) => (i === node.length - 1 ? byte ^ 1 : byte));
      await check(`node ${at} changed in chunk ${index}`, withProof(proof.with(at, flipped)));
    }
  }
  await check("a chunk that unpacks to 65 MiB", packed.with(1, packChunk(new Uint8Array(65 << 20), 1)));
  t.diagnostic(`${count} poisoned snapshots of ${contents.length} chunks, ${Math.round(performance.now() - begin)} ms`);
  assert.deepEqual(accepted, []);
  assert.ok(count >= 1_000, `${count}`);
  assert.equal(restore.restored(), undefined);
  assert.equal(await offer(packed), undefined);
  assert.deepEqual(restore.restored(), { height: HEIGHT, appHash });
});

test("a restored store has the rows of one that executed the chain", async () => {
  const { directory, offer } = openRestore("rows");
  assert.equal(await offer(packChunks(contents, proofs)), undefined);
  const [restored, executed] = [directory, join(home, "data")].map((data) => rowsOf(join(data, "index")));
  assert.deepEqual(Object.keys(restored!), Object.keys(executed!));
  for (const table of Object.keys(restored!)) {
    assert.deepEqual(restored![table], executed![table], table);
    assert.ok(restored![table]!.size > 0, table);
  }
});

/** Value of a row of an account or a slot, without the number of the block that changed it last. */
function latestValue(row: Uint8Array): string {
  const reader = new ByteReader(row);
  reader.varint();
  return bytesToHex(row.subarray(reader.offset));
}

/** The trie node after the last merge, without the number of that merge and the version before. */
function newestNode(row: Uint8Array): string {
  const length = Buffer.from(row).readUInt16LE(6);
  return bytesToHex(row.subarray(8, 8 + length));
}

const whole = (row: Uint8Array) => bytesToHex(row);

/** The tables that describe the newest state and its block, with what of a row depends on it alone. */
function rowsOf(index: string): Readonly<Record<string, ReadonlyMap<string, string>>> {
  const kv = openLmdbKv(index);
  const rows = (table: number, read: (row: Uint8Array) => string) =>
    new Map(Array.from(kv.range(prefixRange(Uint8Array.of(table))), ([key, row]) => [bytesToHex(key), read(row)]));
  try {
    return {
      account: rows(TABLE.account, latestValue),
      slot: rows(TABLE.slot, latestValue),
      code: rows(TABLE.code, whole),
      accountTrieNode: rows(TABLE.accountTrieNode, newestNode),
      storageTrieNode: rows(TABLE.storageTrieNode, newestNode),
      hashedAddress: rows(TABLE.hashedAddress, whole),
      hashedSlot: rows(TABLE.hashedSlot, whole),
    };
  } finally {
    kv.close();
  }
}

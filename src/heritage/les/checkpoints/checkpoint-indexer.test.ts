import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { concatBytes, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { keccak256, keccak256Hash } from "../../../base/primitives/keccak.ts";
import { createMemoryKv } from "../../../store/storage/memory-kv.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { updateTrie } from "../../../store/trie/in-place-update.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import { InvalidProofError } from "../../../store/trie/proof.ts";
import { BLOOM_BITS, compressBits } from "./bloom-bits.ts";
import {
  canonicalHashKey,
  checkpointHash,
  encodeCanonicalBlock,
  uint64Bytes,
  verifyCanonicalBlock,
} from "./checkpoint.ts";
import { CheckpointIndexer, type CheckpointOptions } from "./checkpoint-indexer.ts";

type TestBlock = {
  readonly hash: Hash;
  readonly difficulty: bigint;
  readonly logsBloom: Uint8Array;
};

const hashOf = (number: number) => keccak256Hash(uint64Bytes(number));

function bloomOf(...bits: readonly number[]): Uint8Array {
  const bloom = new Uint8Array(256);
  for (const bit of bits) bloom[255 - (bit >> 3)]! |= 1 << (bit & 7);
  return bloom;
}

function rootOf(keys: readonly Uint8Array[], values: readonly Uint8Array[]): Hash {
  const batch = new NodeBatch();
  const root = updateTrie(EMPTY_TRIE_ROOT_BYTES, {
    source: undefined,
    changes: { keys, valueOf: (index: number) => values[index] },
    sink: {
      add: (path, depth, rlp, length) => batch.add(EMPTY_BYTES, path, depth, rlp, length),
      addHashed: (bytes, start, depth, length) => batch.addHashed(EMPTY_BYTES, bytes, start, depth, length),
      replace() {},
    },
  });
  return hashFromBytes(root);
}

/** The root of the canonical hash trie of `blocks`, from the definition. */
function chtRootOf(blocks: readonly TestBlock[]): Hash {
  let totalDifficulty = 0n;
  const values = blocks.map(({ hash, difficulty }) => {
    totalDifficulty += difficulty;
    return encodeCanonicalBlock({ hash, totalDifficulty });
  });
  return rootOf(
    blocks.map((_, number) => canonicalHashKey(number)),
    values,
  );
}

/** The root of the bloom trie of `blocks`, bit by bit from the definition. */
function bloomRootOf(blocks: readonly TestBlock[], sectionSize: number): Hash {
  const keys: Uint8Array[] = [];
  const values: Uint8Array[] = [];
  for (let section = 0; section < blocks.length / sectionSize; section++) {
    for (let bit = 0; bit < BLOOM_BITS; bit++) {
      const vector = new Uint8Array(sectionSize / 8);
      for (let j = 0; j < sectionSize; j++) {
        const { logsBloom } = blocks[section * sectionSize + j]!;
        if (((logsBloom[255 - (bit >> 3)]! >> (bit & 7)) & 1) === 1) vector[j >> 3]! |= 1 << (7 - (j & 7));
      }
      const value = compressBits(vector);
      if (value.length === 0) continue;
      keys.push(concatBytes(Uint8Array.of(bit >> 8, bit & 0xff), uint64Bytes(section)));
      values.push(value);
    }
  }
  return rootOf(keys, values);
}

const SMALL: CheckpointOptions = { sectionSize: 128, confirmations: 1 };

/** A chain in an array that can be cut and continued otherwise, and an indexer of it that can be killed. */
function openTestChain(options = SMALL) {
  const blocks: TestBlock[] = [];
  const kv = createMemoryKv();
  const source = {
    head: () => blocks.length - 1,
    headerAt: (number: number) => blocks[number],
    hashAt: (number: number) => blocks[number]?.hash,
  };
  const open = () => new CheckpointIndexer(options, { kv, source });
  let indexer: CheckpointIndexer | undefined;
  return {
    blocks,
    get indexer() {
      indexer ??= open();
      return indexer;
    },
    restart() {
      indexer = open();
    },
    work(stepsMax = Number.POSITIVE_INFINITY) {
      let steps = 0;
      while (steps < stepsMax && this.indexer.needsWork()) {
        this.indexer.step();
        steps++;
      }
      return steps;
    },
    grow(count: number, salt = "", bitOf = (number: number) => (7 * number) % BLOOM_BITS) {
      for (let i = 0; i < count; i++) {
        const number = blocks.length;
        const hash = keccak256Hash(Buffer.from(`${salt}${number}`));
        blocks.push({ hash, difficulty: 0n, logsBloom: bloomOf(bitOf(number)) });
      }
    },
    assertCheckpoint(index: number) {
      const known = blocks.slice(0, (index + 1) * options.sectionSize);
      assert.deepEqual(this.indexer.checkpoint(index), {
        sectionIndex: index,
        sectionHead: known.at(-1)!.hash,
        chtRoot: chtRootOf(known),
        bloomRoot: bloomRootOf(known, options.sectionSize),
      });
    },
  };
}

describe("vectors", () => {
  const block = (number: number, difficulty: bigint): TestBlock => ({
    hash: hashOf(number),
    difficulty,
    logsBloom: bloomOf((7 * number) % BLOOM_BITS),
  });
  const chain = (count: number, difficultyOf: (number: number) => bigint) =>
    Array.from({ length: count }, (_, number) => block(number, difficultyOf(number)));

  test("roots of the canonical hash trie", () => {
    for (const [blocks, root] of [
      [chain(4, () => 1n), "0xadbc6a0b402866a2d3306ce9e1a47582e1c19ee851c17c55043f8b7a192132f7"],
      [chain(1, () => 1n), "0x8aee920d49e36983a2ab2e1d4260307e9cfa3e9cb573f2e5c8b363586f28d12c"],
      [chain(4, () => 0n), "0x765dced19a71bb7e04fb63dc42c9286f7d1917a257610c79f1694f4c874543e7"],
    ] as const) {
      assert.equal(chtRootOf(blocks), root);
    }
  });

  test("compressBits", () => {
    const sixteen = new Uint8Array(16);
    sixteen[3] = 0x10;
    assert.equal(bytesToHex(compressBits(sixteen)), "0x801010");
    const vector = new Uint8Array(512);
    vector[0] = 0x80;
    vector[511] = 0x01;
    assert.equal(bytesToHex(compressBits(vector)), "0x81800180018001");
    assert.deepEqual(compressBits(new Uint8Array(16).fill(0xff)), new Uint8Array(16).fill(0xff));
    assert.equal(compressBits(new Uint8Array(512)).length, 0);
    assert.equal(compressBits(new Uint8Array(0)).length, 0);
    assert.deepEqual(compressBits(Uint8Array.of(5)), Uint8Array.of(5));
  });

  test("the checkpoint of a section of 128 blocks, computed by the indexer", () => {
    // The total difficulty of block n is n.
    const blocks = chain(128, (number) => (number === 0 ? 0n : 1n));
    const indexer = new CheckpointIndexer(SMALL, {
      kv: createMemoryKv(),
      source: {
        head: () => 128,
        headerAt: (number) => blocks[number],
        hashAt: (number) => blocks[number]?.hash,
      },
    });
    while (indexer.step());
    const checkpoint = indexer.latest();
    assert.deepEqual(checkpoint, {
      sectionIndex: 0,
      sectionHead: hashFromBytes(keccak256(uint64Bytes(127))),
      chtRoot: "0xb893fddc2b2b5dc8601ac61dfa5c283427a9d4f86244fdbd2d6ac563151e8cd5",
      bloomRoot: "0x7a9b1ac4ba261b71d78e1122a7a6107dbdb1806fe27eabb7aaecbcc150d70c33",
    });
    assert.equal(checkpointHash(checkpoint), "0x4a92ab54d78ace0a493cf0d5ffdc549f7638e73c59229a984eff70aa91154c6a");
  });

  test("blocks without a bloom leave the bloom trie empty", () => {
    const chain = openTestChain();
    chain.grow(129);
    for (const block of chain.blocks) block.logsBloom.fill(0);
    chain.work();
    assert.equal(
      chain.indexer.latest().bloomRoot,
      "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
    );
  });
});

/** A prime: kills come to every step of the passes, which repeat by powers of two. */
const KILL_EVERY = 13;

describe("CheckpointIndexer", () => {
  test("8,000 blocks in sections of 128 equal a straightforward computation", () => {
    const chain = openTestChain();
    // More than 4,096: the paths of their numbers differ in four nibbles.
    chain.grow(8_000, "", (number) => (number * number) % BLOOM_BITS);
    chain.work();
    assert.equal(chain.indexer.sections, Math.floor(8_000 / 128));
    for (const index of [0, 61]) chain.assertCheckpoint(index);
    assert.equal(chain.indexer.latest().sectionIndex, 61);
  });

  test("a section is indexed once enough blocks follow it", () => {
    const options = { ...SMALL, confirmations: 5 };
    const chain = openTestChain(options);
    chain.grow(128 + 4);
    assert.equal(chain.indexer.needsWork(), false);
    assert.throws(() => chain.indexer.latest(), { code: "LES_NO_CHECKPOINT" });
    chain.grow(1);
    assert.equal(chain.indexer.needsWork(), true);
    chain.work();
    assert.equal(chain.indexer.latest().sectionIndex, 0);
    // Mainnet's sizes: section 0 at head 33023.
    const mainnet = { sectionSize: 32_768, confirmations: 256 };
    assert.equal(CheckpointIndexer.dueSections(mainnet, 33_022), 0);
    assert.equal(CheckpointIndexer.dueSections(mainnet, 33_023), 1);
    assert.equal(CheckpointIndexer.dueSections(mainnet, 0), 0);
  });

  test("an index that does not exist is rejected", () => {
    const chain = openTestChain();
    chain.grow(300);
    chain.work();
    for (const index of [2, 3, 1e9]) {
      assert.throws(() => chain.indexer.checkpoint(index), { code: "LES_NO_CHECKPOINT" });
    }
  });

  test("an indexer that is killed after a step of each kind gives the same checkpoints", () => {
    const whole = openTestChain();
    whole.grow(300);
    const steps = whole.work();
    for (let killAt = 1; killAt < steps; killAt += KILL_EVERY) {
      const chain = openTestChain();
      chain.grow(300);
      chain.work(killAt);
      chain.restart();
      chain.work();
      assert.deepEqual(chain.indexer.checkpoint(1), whole.indexer.checkpoint(1));
    }
  });

  test("no step takes more than a few blocks and rows", () => {
    const blocks = Array.from({ length: 4096 }, (_, number) => number);
    const kv = createMemoryKv();
    let reads = 0;
    let writes = 0;
    kv.transaction((writer) => {
      const { put, remove } = writer;
      Object.assign(writer, {
        put(...row: Parameters<typeof put>) {
          writes++;
          put.apply(writer, row);
        },
        remove(...key: Parameters<typeof remove>) {
          writes++;
          remove.apply(writer, key);
        },
      });
    });
    // Every bit of every bloom: the most work there can be.
    const logsBloom = new Uint8Array(256).fill(0xff);
    const source = {
      head: () => blocks.length,
      headerAt: () => {
        reads++;
        return { difficulty: 0n, logsBloom };
      },
      hashAt: hashOf,
    };
    const options = { sectionSize: 2048, confirmations: 1 };
    const indexer = new CheckpointIndexer(options, { kv, source });
    while (indexer.needsWork()) {
      [reads, writes] = [0, 0];
      indexer.step();
      assert.ok(reads <= 8, `${reads} blocks`);
      assert.ok(writes <= 64, `${writes} rows`);
    }
    assert.equal(indexer.sections, 2);
  });

  test("a section that is interrupted begins again, and complete ones stay", () => {
    const whole = openTestChain();
    whole.grow(129);
    const steps = whole.work();
    const chain = openTestChain();
    chain.grow(257);
    chain.work(2 * steps - 1);
    chain.restart();
    assert.equal(chain.indexer.sections, 1);
    assert.equal(chain.work(), steps);
    chain.assertCheckpoint(1);
  });

  test("after a rollback the sections that lost a block are computed from the new ones", () => {
    const scratch = openTestChain();
    scratch.grow(400);
    const allSteps = scratch.work();
    for (const last of [300, 255, 254, 130, 127, 60]) {
      for (const watched of [true, false]) {
        for (const steps of [allSteps, Math.floor(allSteps / 2)]) {
          const chain = openTestChain();
          chain.grow(400);
          chain.work(steps);
          chain.blocks.length = last + 1;
          if (watched) chain.indexer.rollback(last);
          chain.grow(399 - last, "other");
          if (!watched) chain.restart();
          chain.work();
          assert.equal(chain.indexer.sections, 3);
          // Its roots are those of all sections.
          chain.assertCheckpoint(2);
        }
      }
    }
  });

  test("a proof verifies with the root alone, for every block up to the section and no other", () => {
    const chain = openTestChain();
    chain.grow(400);
    chain.work();
    const { chtRoot } = chain.indexer.checkpoint(1);
    for (const number of [0, 1, 127, 128, 255]) {
      const proof = chain.indexer.proveHash(1, number);
      const { hash } = verifyCanonicalBlock(chtRoot, number, proof);
      assert.equal(hash, chain.blocks[number]!.hash);
      assert.throws(() => verifyCanonicalBlock(chtRoot, number + 300, proof), InvalidProofError);
      const damaged = proof.map((node) => node.slice());
      damaged.at(-1)![3]! ^= 1;
      assert.throws(() => verifyCanonicalBlock(chtRoot, number, damaged), InvalidProofError);
    }
    assert.throws(() => chain.indexer.proveHash(1, 256), { code: "LES_NO_CHECKPOINT" });
  });

  test("a pruned block and another section size are errors, not other roots", () => {
    const chain = openTestChain();
    chain.grow(256);
    chain.work();
    delete (chain.blocks as unknown[])[0];
    assert.throws(
      () => {
        const indexer = new CheckpointIndexer(SMALL, {
          kv: createMemoryKv(),
          source: {
            head: () => 255,
            headerAt: (n) => chain.blocks[n],
            hashAt: (n) => chain.blocks[n]?.hash,
          },
        });
        while (indexer.step());
      },
      { code: "LES_BLOCK_MISSING" },
    );
    const kv = createMemoryKv();
    const source = { head: () => 0, headerAt: () => undefined, hashAt: () => undefined };
    new CheckpointIndexer(SMALL, { kv, source });
    assert.throws(() => new CheckpointIndexer({ ...SMALL, sectionSize: 64 }, { kv, source }), {
      code: "STORE_CHECKPOINT_LAYOUT",
    });
  });
});

/**
 * State root after 10,000 account updates: ours on a million accounts (or as many as the first argument says) beside @ethereumjs/mpt
 * on 20,000. CPU time; the nodes are in memory, so no disk is in it.
 */
import { createMPT } from "@ethereumjs/mpt";
import { type Address, addressFromBytes } from "../../src/base/primitives/address.ts";
import { keccak256 } from "../../src/base/primitives/keccak.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../src/base/types/constants.ts";
import type { StateChanges } from "../../src/evm/state/reader.ts";
import { createStateTrie, type StateTrieUpdate } from "../../src/evm/state/state-trie.ts";
import { encodeTrieAccount } from "../../src/evm/state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../src/store/trie/empty-root.ts";
import { NodeBatch } from "../../src/store/trie/node-batch.ts";
import type { TrieNode, TrieNodeReader } from "../../src/store/trie/node-store.ts";
import { printTable, writeResult } from "../support/report.ts";

const UPDATES = 10_000;
const ORACLE_ACCOUNTS = 20_000;
const BATCH = 100_000;
const BLOCKS = 12;
const CHUNK = 2 ** 24;

export async function run(args: readonly string[]): Promise<void> {
  const accounts = Number(args[0] ?? 1_000_000);
  const oracle = await oracleMs();
  const rows = [
    await row("all nodes cached", accounts, 600 << 20, oracle),
    await row("default cache", accounts, undefined, oracle),
    await row("default cache", ORACLE_ACCOUNTS, undefined, oracle),
  ];
  printTable(rows);
  writeResult("trie", rows);
  console.log(`@ethereumjs/mpt, ${ORACLE_ACCOUNTS} accounts: ${oracle.toFixed(0)} ms`);
}

async function row(name: string, accounts: number, cacheBytes: number | undefined, oracle: number) {
  const nodes = createFlatNodes();
  const trie = createStateTrie(nodes, cacheBytes === undefined ? {} : { cacheBytes });
  let root = EMPTY_TRIE_ROOT;
  const buildMs = cpuMs(() => {
    for (let start = 0; start < accounts; start += BATCH) {
      const length = Math.min(BATCH, accounts - start);
      const update = trie.update(root, changesOf(range(length, start), 0));
      nodes.keep(update.nodes);
      root = update.root;
    }
  });
  const times: number[] = [];
  let created = 0;
  for (let block = 1; block <= BLOCKS; block++) {
    const changes = changesOf(picks(UPDATES, accounts, block), block);
    const parent = root;
    let update: StateTrieUpdate = { root, nodes: new NodeBatch() };
    times.push(
      cpuMs(() => {
        update = trie.update(parent, changes);
      }),
    );
    created = [...update.nodes].length;
    nodes.keep(update.nodes);
    root = update.root;
  }
  times.sort((a, b) => a - b);
  const median = times[times.length >> 1]!;
  return {
    name,
    accounts,
    "build ms": Math.round(buildMs),
    "10k updates ms": Math.round(median),
    "best ms": Math.round(times[0]!),
    "new nodes": created,
    "us a node": ((median * 1000) / created).toFixed(2),
    "mpt / ours": (oracle / median).toFixed(1),
  };
}

async function oracleMs(): Promise<number> {
  const trie = await createMPT();
  for (const index of range(ORACLE_ACCOUNTS, 0)) await trie.put(...leaf(index, 0));
  const start = process.cpuUsage();
  for (const index of picks(UPDATES, ORACLE_ACCOUNTS, 1)) await trie.put(...leaf(index, 1));
  trie.root();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function leaf(index: number, block: number): [Uint8Array, Uint8Array] {
  const account = { nonce: BigInt(block), balance: balanceOf(index), codeHash: EMPTY_CODE_HASH };
  return [keccak256(addressBytes(index)), encodeTrieAccount(account, EMPTY_TRIE_ROOT_BYTES)];
}

function changesOf(indexes: readonly number[], block: number): StateChanges {
  const accounts = indexes.map((index) => ({
    address: addressOf(index),
    account: { nonce: BigInt(block), balance: balanceOf(index), codeHash: EMPTY_CODE_HASH },
    storage: new Map(),
    storageCleared: false,
  }));
  return { accounts, codes: new Map() };
}

const balanceOf = (index: number): bigint => 10n ** 18n + BigInt(index);
const addressOf = (index: number): Address => addressFromBytes(addressBytes(index));

function addressBytes(index: number): Uint8Array {
  const bytes = new Uint8Array(20);
  new DataView(bytes.buffer).setUint32(16, index);
  return bytes;
}

function range(length: number, start: number): number[] {
  return Array.from({ length }, (_, index) => start + index);
}

/** `count` different numbers below `limit`, spread over it. */
function picks(count: number, limit: number, seed: number): number[] {
  const chosen = new Set<number>();
  let state = seed;
  while (chosen.size < count) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    chosen.add(state % limit);
  }
  return [...chosen];
}

/** Nodes in large arrays, so that the collector has no million of objects to look at that a store on disk would not have. */
function createFlatNodes(): TrieNodeReader & { keep(nodes: Iterable<TrieNode>): void } {
  const chunks = [Buffer.alloc(CHUNK)];
  const slots = 2 ** 22;
  /** hash (32 bytes) ‖ chunk, start, length (4 bytes each) */
  const index = Buffer.alloc(slots * 44);
  let used = 0;
  const find = (hash: Uint8Array): { readonly at: number; readonly isThere: boolean } => {
    let slot = (hash[0]! | (hash[1]! << 8) | (hash[2]! << 16) | (hash[3]! << 24)) & (slots - 1);
    while (true) {
      const at = slot * 44;
      if (index.readUInt32LE(at + 40) === 0) return { at, isThere: false };
      if (index.compare(hash, 0, 32, at, at + 32) === 0) return { at, isThere: true };
      slot = (slot + 1) & (slots - 1);
    }
  };
  return {
    node(_owner, _path, hash) {
      const { at, isThere } = find(hash);
      if (!isThere) return undefined;
      const start = index.readUInt32LE(at + 36);
      const end = start + index.readUInt32LE(at + 40);
      return Uint8Array.prototype.slice.call(chunks[index.readUInt32LE(at + 32)], start, end);
    },
    keep(nodes) {
      for (const { hash, rlp } of nodes) {
        const { at, isThere } = find(hash);
        if (isThere) continue;
        if (used + rlp.length > CHUNK) {
          chunks.push(Buffer.alloc(CHUNK));
          used = 0;
        }
        chunks.at(-1)!.set(rlp, used);
        index.set(hash, at);
        index.writeUInt32LE(chunks.length - 1, at + 32);
        index.writeUInt32LE(used, at + 36);
        index.writeUInt32LE(rlp.length, at + 40);
        used += rlp.length;
      }
    },
  };
}

function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

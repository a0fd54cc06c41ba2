/**
 * State root after 10,000 account updates: ours on a million accounts (or as many as the first argument says) beside @ethereumjs/mpt
 * on 20,000. CPU time; the nodes are in a Map, so no disk is in it.
 */
import { createMPT } from "@ethereumjs/mpt";
import { type Address, addressFromBytes } from "../../src/primitives/address.ts";
import { bytesToHex } from "../../src/primitives/hex.ts";
import { keccak256 } from "../../src/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../src/state/account.ts";
import { createStateTrie } from "../../src/state/merkle-state-trie.ts";
import type { StateChanges } from "../../src/state/reader.ts";
import { encodeTrieAccount } from "../../src/state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../src/trie/empty-root.ts";
import type { TrieNode, TrieNodeReader } from "../../src/trie/node-store.ts";
import { EMPTY_TRIE_ROOT } from "../../src/types/constants.ts";

const UPDATES = 10_000;
const ORACLE_ACCOUNTS = 20_000;
const BATCH = 100_000;
const BLOCKS = 8;

export async function run(args: readonly string[]): Promise<void> {
  const accounts = Number(args[0] ?? 1_000_000);
  const oracle = await oracleMs();
  console.table([
    await row("all nodes cached", accounts, 2 ** 21, oracle),
    await row("default cache", accounts, undefined, oracle),
    await row("default cache", ORACLE_ACCOUNTS, undefined, oracle),
  ]);
  console.log(`@ethereumjs/mpt, ${ORACLE_ACCOUNTS} accounts: ${oracle.toFixed(0)} ms`);
}

async function row(
  name: string,
  accounts: number,
  cachedNodesMax: number | undefined,
  oracle: number,
) {
  const nodes = createHashMapNodes();
  const trie = createStateTrie(nodes, cachedNodesMax === undefined ? {} : { cachedNodesMax });
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
    times.push(
      cpuMs(() => {
        const update = trie.update(parent, changes);
        created = update.nodes.length;
        nodes.keep(update.nodes);
        root = update.root;
      }),
    );
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

function createHashMapNodes(): TrieNodeReader & { keep(nodes: readonly TrieNode[]): void } {
  const kept = new Map<string, Uint8Array>();
  return {
    node: (_owner, _path, hash) => kept.get(bytesToHex(hash)),
    keep(nodes) {
      for (const { hash, rlp } of nodes) kept.set(bytesToHex(hash), rlp);
    },
  };
}

function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

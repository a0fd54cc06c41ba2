/**
 * The block store on disk: appending blocks of transfers and empty blocks, reading old state, opening.
 *
 *     node --import tsx bench/store/block-store.ts [blocks of transfers] [empty blocks]
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlockRecord } from "../../src/chain/store/block-store.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import type { Address } from "../../src/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../src/primitives/hash.ts";
import { keccak256Hash } from "../../src/primitives/keccak.ts";
import { type Account, EMPTY_CODE_HASH } from "../../src/state/account.ts";
import { createStateTrie } from "../../src/state/merkle-state-trie.ts";
import type { AccountChange } from "../../src/state/reader.ts";
import {
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "../../src/types/constants.ts";
import type { Header } from "../../src/types/header.ts";
import { headerHash } from "../../src/types/header-codec.ts";
import { buildTransaction } from "../../src/types/transaction/encode.ts";

const ACCOUNTS = 100_000;
const TRANSFERS = 200;
const blocksOfTransfers = Number(process.argv[2] ?? 500);
const emptyBlocks = Number(process.argv[3] ?? 10_000);

const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
/** Milliseconds since the step before, by step: on the clock and of the processor. */
const times = new Map<string, { wall: number; cpu: number }>();
let lastPoint = { wall: 0, cpu: 0 };
const now = () => {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
};
const options = {
  directory,
  createTrie: createStateTrie,
  failPoint(name: string) {
    const point = now();
    const step = `until ${name}`;
    const { wall, cpu } = times.get(step) ?? { wall: 0, cpu: 0 };
    times.set(step, {
      wall: wall + point.wall - lastPoint.wall,
      cpu: cpu + point.cpu - lastPoint.cpu,
    });
    lastPoint = point;
  },
};
let store = openDiskBlockStore(options);
const trie = createStateTrie(store.trieNodes);
const addresses = Array.from({ length: ACCOUNTS }, (_, i) =>
  keccak256Hash(Buffer.from(`account ${i}`)).slice(0, 42),
) as Address[];
let parent: Header | undefined;
let parentHash = ZERO_HASH;

/** Empty but for what EIP-4788 and EIP-2935 write. */
function systemChanges(number: number): AccountChange[] {
  const contract = (name: string, storage: Map<Hash, bigint>): AccountChange => ({
    address: keccak256Hash(Buffer.from(name)).slice(0, 42) as Address,
    account: { nonce: 1n, balance: 0n, codeHash: ZERO_HASH },
    storage,
    storageCleared: false,
  });
  return [
    contract(
      "roots",
      new Map([[hashFromBigint(BigInt(number % 8191)), BigInt(1_700_000_000 + number)]]),
    ),
    contract(
      "history",
      new Map([[hashFromBigint(BigInt(number % 8191)), BigInt(parentHash) + 1n]]),
    ),
  ];
}

function transfers(number: number): AccountChange[] {
  const changed = new Map<Address, Account>();
  for (let i = 0; i < TRANSFERS * 2; i++) {
    const address = addresses[Math.floor(Math.random() * ACCOUNTS)]!;
    changed.set(address, {
      nonce: BigInt(number),
      balance: 10n ** 18n + BigInt(number * 1000 + i),
      codeHash: EMPTY_CODE_HASH,
    });
  }
  return Array.from(changed, ([address, account]) => accountChange(address, account));
}

function accountChange(address: Address, account: Account): AccountChange {
  return { address, account, storage: new Map(), storageCleared: false };
}

function makeRecord(accounts: AccountChange[], txCount: number) {
  const number = parent === undefined ? 0 : parent.number + 1;
  const changes = { accounts, codes: new Map() };
  const { root, nodes } = trie.update(parent?.stateRoot ?? EMPTY_TRIE_ROOT, changes);
  const bloom = new Uint8Array(256);
  const transactions = Array.from({ length: txCount }, (_, i) =>
    buildTransaction(
      {
        type: 2,
        chainId: 1337n,
        nonce: BigInt(number),
        maxPriorityFeePerGas: 1_000_000_000n,
        maxFeePerGas: 2_000_000_000n,
        gasLimit: 21_000n,
        to: addresses[i]!,
        value: 10n ** 17n,
        data: EMPTY_BYTES,
        accessList: [],
      },
      { v: 1n, r: BigInt(keccak256Hash(Buffer.from([i]))), s: BigInt(parentHash) / 2n },
    ),
  );
  const header: Header = {
    parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: addresses[0]!,
    stateRoot: root,
    transactionsRoot: txCount === 0 ? EMPTY_TRIE_ROOT : parentHash,
    receiptsRoot: txCount === 0 ? EMPTY_TRIE_ROOT : parentHash,
    logsBloom: bloom,
    difficulty: 0n,
    number,
    gasLimit: 36_000_000n,
    gasUsed: BigInt(txCount) * 21_000n,
    timestamp: 1_700_000_000 + number,
    extraData: EMPTY_BYTES,
    mixHash: keccak256Hash(Buffer.from(parentHash)),
    nonce: new Uint8Array(8),
    baseFeePerGas: 1_000_000_000n,
    withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
    requestsHash: EMPTY_REQUESTS_HASH,
  };
  const hash = headerHash(header);
  parent = header;
  parentHash = hash;
  const record: BlockRecord = {
    block: { hash, header, transactions, uncles: [], withdrawals: [] },
    senders: transactions.map((_, i) => addresses[i + 1]!),
    receipts: transactions.map((tx, i) => ({
      type: tx.type,
      status: 1,
      cumulativeGasUsed: BigInt(i + 1) * 21_000n,
      gasUsed: 21_000n,
      logsBloom: bloom,
      logs: [],
      contractAddress: null,
      effectiveGasPrice: 1_500_000_000n,
    })),
    changes,
    consensusData: EMPTY_BYTES,
  };
  return { record, nodes };
}

/** Appends `count` blocks and prints the time of each step and the growth of the files, a block. */
async function measure(
  name: string,
  count: number,
  changesOf: (number: number) => AccountChange[],
  txCount: number,
) {
  times.clear();
  const before = sizes();
  let nodeCount = 0;
  const appends: number[] = [];
  for (let i = 0; i < count; i++) {
    const { record, nodes } = makeRecord(changesOf(parent!.number + 1), txCount);
    nodeCount += nodes.length;
    lastPoint = now();
    const start = lastPoint.wall;
    store.append(record, nodes);
    appends.push(performance.now() - start);
    // Lets the history merge, as the event loop of a node does between blocks.
    await new Promise((resolve) => setImmediate(resolve));
  }
  appends.sort((a, b) => a - b);
  const after = sizes();
  const at = (part: number) => appends[Math.floor(appends.length * part)]!.toFixed(2);
  console.log(`append, ${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  for (const [step, { wall, cpu }] of times) {
    console.log(
      `    ${step}: ${(wall / count).toFixed(3)} ms, processor ${(cpu / count).toFixed(3)}`,
    );
  }
  console.log(
    `    log ${Math.round((after.log - before.log) / count)} bytes, index ${Math.round((after.index - before.index) / count)} bytes, trie nodes ${(nodeCount / count).toFixed(1)}`,
  );
}

function sizes(): { log: number; index: number } {
  const size = (folder: string) =>
    readdirSync(join(directory, folder)).reduce(
      (sum, file) => sum + statSync(join(directory, folder, file)).size,
      0,
    );
  return { log: size("log"), index: statSync(join(directory, "index", "data.mdb")).blocks * 512 };
}

/** Microseconds of one call, in the mean of `count`. */
function each(count: number, work: (i: number) => unknown): string {
  const start = performance.now();
  for (let i = 0; i < count; i++) work(i);
  return (((performance.now() - start) * 1000) / count).toFixed(1);
}

const genesis = makeRecord(
  addresses.map((address) =>
    accountChange(address, { nonce: 0n, balance: 10n ** 18n, codeHash: EMPTY_CODE_HASH }),
  ),
  0,
);
store.append(genesis.record, genesis.nodes);
await measure(`${TRANSFERS} transfers`, blocksOfTransfers, transfers, TRANSFERS);
await measure("no transactions", emptyBlocks, systemChanges, 0);

const head = store.head()!;
store.close();
const opening = performance.now();
store = openDiskBlockStore(options);
console.log(`open with ${head + 1} blocks: ${Math.round(performance.now() - opening)} ms`);
const random = () => Math.floor(Math.random() * ACCOUNTS);
const newest = store.stateAt(head);
for (let i = 0; i < 20_000; i++) newest.account(addresses[random()]!);
console.log(`account at head: ${each(50_000, () => newest.account(addresses[random()]!))} us`);
const old = store.stateAt(Math.floor(blocksOfTransfers / 2));
console.log(`account at an old block: ${each(50_000, () => old.account(addresses[random()]!))} us`);
const firsts = Math.min(200, blocksOfTransfers - 1);
console.log(`decode ${TRANSFERS} transfers: ${each(firsts, (i) => store.block(i + 1))} us`);
console.log(
  `decode no transactions: ${each(2_000, (i) => store.block(blocksOfTransfers + 1 + (i % emptyBlocks)))} us`,
);
store.close();
const reindexing = performance.now();
store = openDiskBlockStore({ ...options, reindex: true });
console.log(`reindex ${head + 1} blocks: ${Math.round(performance.now() - reindexing)} ms`);
store.close();
rmSync(directory, { recursive: true });

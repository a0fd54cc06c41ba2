import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { deflateRawSync } from "node:zlib";
import { HISTORY_STORAGE_ADDRESS } from "../../src/base/params/gas.ts";
import { parseGenesis } from "../../src/base/params/genesis.ts";
import { addressToBytes, ZERO_ADDRESS } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, hashFromBytes, hashToBytes } from "../../src/base/primitives/hash.ts";
import { keccak256, keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { createFailures } from "../../src/base/telemetry/failures.ts";
import { SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { createMetrics } from "../../src/base/telemetry/metrics.ts";
import {
  EMPTY_CODE_HASH,
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "../../src/base/types/constants.ts";
import type { Header } from "../../src/base/types/header.ts";
import { headerHash } from "../../src/base/types/header-codec.ts";
import type { BlockRecord } from "../../src/chain/block-store.ts";
import { createChain } from "../../src/chain/chain.ts";
import { createChainStateTrie } from "../../src/chain/chain-state-trie.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../src/chain/records/block-record.ts";
import { OrderedState } from "../../src/chain/store/nodes/ordered-state.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import type { StatePiece } from "../../src/chain/store/retention/state-pieces.ts";
import { type ConsensusData, encodeConsensusData } from "../../src/consensus/consensus-data.ts";
import { BoundaryProofs } from "../../src/consensus/state-sync/boundary-proofs.ts";
import { SnapshotRestore } from "../../src/consensus/state-sync/restore.ts";
import { SnapshotFiles } from "../../src/consensus/state-sync/snapshot-files.ts";
import {
  CHUNK_BYTES,
  packPart,
  packProof,
  SNAPSHOT_FORMAT,
  unpackBlock,
} from "../../src/consensus/state-sync/snapshot-format.ts";
import { createSnapshots, SNAPSHOT_REST_MS } from "../../src/consensus/state-sync/snapshots.ts";
import { StateParts } from "../../src/consensus/state-sync/state-parts.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { byKey } from "../../src/store/storage/row-order.ts";
import { printTable, updateResult } from "../support/report.ts";
import { addressOf, createTransferChain } from "./transfer-chain.ts";

const ACCOUNTS = "1000000";
/** One account in so many is a contract with a few slots. */
const CONTRACT_EVERY = 10;
const SLOTS = 5;
const CODES = 1_000;
const TRANSFERS = 200;
const BLOCK_MS = 250;
const BLOCKS_ALONE = 40;
const MEMORY_LOOK_MS = 100;

/**
 * `npm run bench -- snapshots [ACCOUNTS] [restore]`: a snapshot of a generated state with so many accounts, each tenth a contract with 5 slots, is restored; then
 * the restored node makes one, alone and while blocks of 200 transfers follow each other, unless only `restore` is asked for. Each part has a process of its
 * own, for its memory.
 */
export async function run(args: readonly string[]): Promise<void> {
  const accounts = Number(args[0] ?? ACCOUNTS);
  if (args[2] !== undefined) {
    const figures = await STEPS[args[1] as keyof typeof STEPS](args[2], accounts);
    console.log(JSON.stringify({ ...figures, "peak MB": process.resourceUsage().maxRSS / 1024 }));
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    const own = (name: string) => {
      const command = [...process.execArgv, process.argv[1]!, "snapshots", String(accounts), name, directory];
      const answer = execFileSync(process.execPath, command, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
      return JSON.parse(answer.trim().split("\n").at(-1)!) as Record<string, number>;
    };
    const row: Record<string, number> = { accounts };
    for (const name of args[1] === "restore" ? ["files", "restore"] : ["files", "restore", "make", "blocks"]) {
      for (const [figure, value] of Object.entries(own(name))) row[`${name} ${figure}`] = value;
      console.error(name, row);
    }
    printTable([row]);
    updateResult("snapshots", [row], ({ accounts }) => String(accounts));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const CONFIG = parseGenesis(
  JSON.stringify({
    config: {
      chainId: 1337,
      ...Object.fromEntries(
        "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london"
          .split(" ")
          .map((fork) => [`${fork}Block`, 0]),
      ),
      terminalTotalDifficulty: 0,
      shanghaiTime: 0,
      cancunTime: 0,
      pragueTime: 0,
      blobSchedule: {
        cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3338477 },
        prague: { target: 6, max: 9, baseFeeUpdateFraction: 5007716 },
      },
    },
    alloc: {},
    difficulty: "0x0",
    gasLimit: "0x1c9c380",
  }),
).config;
const GENESIS_HASH = hashFromBigint(1n);
const CONSENSUS_DATA: ConsensusData = {
  consensusHash: hashFromBigint(0n),
  proposer: ZERO_ADDRESS,
  nanos: 0,
  parentRound: 0,
};

/** The accounts in the order of their hashes. */
function* piecesOf(accounts: number): Generator<StatePiece> {
  const hashes = new Uint8Array((accounts + 1) * 32);
  for (let i = 0; i < accounts; i++) hashes.set(keccak256(addressToBytes(addressOf(i))), i * 32);
  hashes.set(keccak256(addressToBytes(HISTORY_STORAGE_ADDRESS)), accounts * 32);
  for (const i of byKey(hashes, 32, 0, accounts + 1)) {
    if (i === accounts) {
      const storage = new Map([[hashFromBigint(0n), BigInt(GENESIS_HASH)]]);
      const account = { nonce: 1n, balance: 0n, codeHash: EMPTY_CODE_HASH };
      yield { address: HISTORY_STORAGE_ADDRESS, account, storage };
      continue;
    }
    const balance = 10n ** 18n + BigInt(i) * 10n ** 12n;
    const isContract = i % CONTRACT_EVERY === 0;
    const codeHash = isContract ? keccak256Hash(codeOf(i)) : EMPTY_CODE_HASH;
    yield {
      address: addressOf(i),
      account: { nonce: 1n, balance, codeHash },
      storage: isContract ? slotsOf(i) : NO_SLOTS,
    };
  }
}

const NO_SLOTS: ReadonlyMap<Hash, bigint> = new Map();

function codeOf(i: number): Uint8Array {
  return Buffer.alloc(1_000, `code ${i % CODES} `);
}

function slotsOf(i: number): ReadonlyMap<Hash, bigint> {
  const slots = Array.from({ length: SLOTS }, (_, n) => keccak256(Buffer.from(`slot ${i} ${n}`)));
  const order = slots.map((slot) => [keccak256(slot), slot] as const).sort(([a], [b]) => Buffer.compare(a, b));
  return new Map(order.map(([, slot], n) => [hashFromBytes(slot), BigInt(n + 1)]));
}

/** The files of a snapshot of block 1, which has this state. */
async function makeFiles(directory: string, accounts: number) {
  const proofs = new BoundaryProofs();
  const state = new OrderedState(proofs.sinkOf);
  const codes = new Map(Array.from({ length: CODES }, (_, i) => [keccak256Hash(codeOf(i)), codeOf(i)]));
  const parts = new StateParts(proofs, (codeHash) => codes.get(codeHash)!, CHUNK_BYTES);
  async function* chunks() {
    // The block, which has the root, is what this chunk ends with.
    yield EMPTY_BYTES;
    for (const piece of piecesOf(accounts)) {
      const { address, account, storage } = piece;
      state.addAccount(keccak256(addressToBytes(address)), account);
      for (const [slot, value] of storage) state.addSlot(keccak256(hashToBytes(slot)), value);
      const part = parts.add(piece);
      if (part !== undefined) yield packPart(part);
    }
    const rest = parts.finish();
    if (rest !== undefined) yield packPart(rest);
  }
  const block = () => deflateRawSync(encodeBlockRecord(recordOf(hashFromBytes(state.finish())), new Set()));
  const tails = () => [block(), ...proofs.proofs().map(packProof)];
  const bytes = await new SnapshotFiles(join(directory, "files")).write(1, chunks(), tails);
  return { MB: bytes / 1e6 };
}

function recordOf(stateRoot: Hash): BlockRecord {
  const header: Header = {
    parentHash: GENESIS_HASH,
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: ZERO_ADDRESS,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number: 1,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp: 1_700_000_000,
    extraData: new Uint8Array(),
    mixHash: hashFromBigint(0n),
    nonce: new Uint8Array(8),
    baseFeePerGas: 7n,
    withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: hashFromBigint(0n),
    requestsHash: EMPTY_REQUESTS_HASH,
  };
  const block = { hash: headerHash(header), header, transactions: [], uncles: [], withdrawals: [] };
  const consensusData = encodeConsensusData(CONSENSUS_DATA);
  return { block, senders: [], receipts: [], changes: { accounts: [], codes: new Map() }, consensusData };
}

function openStore(directory: string, name: string) {
  return openDiskBlockStore({
    directory: join(directory, name),
    createTrie: createStateTrie,
    defer: (work) => void setImmediate(work),
  });
}

function openRestored(directory: string) {
  const store = openStore(directory, "restored");
  const chain = createChain({
    config: CONFIG,
    store,
    stateTrie: createChainStateTrie(store, {}),
    log: SILENT_LOGGER,
    genesisHash: GENESIS_HASH,
  });
  const metrics = createMetrics();
  const failures = createFailures(SILENT_LOGGER, metrics);
  const files = new SnapshotFiles(join(directory, "snapshots"));
  const snapshots = createSnapshots(
    { interval: 0 },
    {
      chain,
      store,
      files,
      metrics,
      failures,
      log: SILENT_LOGGER,
      pause: () => setTimeout(SNAPSHOT_REST_MS),
    },
  );
  return { store, files, snapshots };
}

/** Makes a snapshot beside no other work. */
async function makeSnapshot(directory: string) {
  const { store, files, snapshots } = openRestored(directory);
  const before = anonymousMb();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, anonymousMb());
  }, MEMORY_LOOK_MS);
  const start = performance.now();
  const cpu = process.cpuUsage();
  await snapshots.take();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(timer);
  store.close();
  const folder = join(directory, "snapshots", readdirSync(join(directory, "snapshots"))[0]!);
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return {
    s: seconds,
    "cpu s": (user + system) / 1e6,
    MB: bytes / 1e6,
    chunks: files.list()[0]!.chunks,
    "anonymous MB before": before,
    "anonymous MB": most,
  };
}

/** Makes a snapshot while blocks follow each other, in the pace of before. */
async function makeBesideBlocks(directory: string, accounts: number) {
  const { store, snapshots } = openRestored(directory);
  const transfers = createTransferChain(accounts, createStateTrie(store.trieNodes, {}), store.header(1));
  const times: number[] = [];
  const block = async () => {
    const start = performance.now();
    await setTimeout(BLOCK_MS);
    const { record, nodes } = transfers.transfers(TRANSFERS);
    store.append(record, nodes);
    times.push(performance.now() - start);
  };
  let isTaken = false;
  const start = performance.now();
  const taken = snapshots.take().then(() => {
    isTaken = true;
  });
  while (!isTaken) await block();
  await taken;
  const seconds = (performance.now() - start) / 1000;
  const meanwhile = times.splice(0);
  for (let i = 0; i < BLOCKS_ALONE; i++) await block();
  store.close();
  return {
    s: seconds,
    blocks: meanwhile.length,
    "block ms": mean(meanwhile),
    "block ms alone": mean(times),
    "block p99 ms": p99(meanwhile),
    "block p99 ms alone": p99(times),
  };
}

async function restoreSnapshot(directory: string) {
  const files = new SnapshotFiles(join(directory, "files"));
  const snapshot = files.list()[0]!;
  const target = join(directory, "restored");
  const { block } = decodeBlockRecord(unpackBlock(files.chunk(1, SNAPSHOT_FORMAT, 0)));
  const appHash = headerHash(block.header);
  const rssBefore = process.memoryUsage().rss;
  const restore = new SnapshotRestore(
    { directory: target, config: CONFIG },
    { source: { consensusDataOf: async () => CONSENSUS_DATA }, log: SILENT_LOGGER },
  );
  const start = performance.now();
  if (restore.offerSnapshot(snapshot, appHash) !== "accept") throw new Error("the snapshot is not accepted");
  let verifiedMs = 0;
  for (let index = 0; index < snapshot.chunks; index++) {
    if (index + 1 === snapshot.chunks) verifiedMs = performance.now() - start;
    const chunk = files.chunk(snapshot.height, SNAPSHOT_FORMAT, index);
    const { result } = await restore.applySnapshotChunk(index, chunk, "peer");
    if (result !== "accept") throw new Error(`chunk ${index}: ${result}`);
  }
  const seconds = (performance.now() - start) / 1000;
  if (!existsSync(target)) throw new Error("nothing was restored");
  return { "chunks s": verifiedMs / 1000, s: seconds, "rss before MB": rssBefore / 2 ** 20 };
}

const STEPS = { files: makeFiles, restore: restoreSnapshot, make: makeSnapshot, blocks: makeBesideBlocks } as const;

/** Memory of this process without mapped files: those of the index are the largest part of all of it. */
function anonymousMb(): number {
  return Number(/RssAnon:\s*(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!;
}

import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import type { StateTrie } from "../../evm/state/state-trie.ts";
import type { Kv } from "../../store/storage/kv.ts";
import { LogCorruptionError, type LogReader, type LogRecord } from "../../store/storage/log/log-reader.ts";
import { decodeChangeRows, decodeHeader, decodePrefix } from "../records/block-record.ts";
import {
  decodeHashesAndLogs,
  decodeIndexedParts,
  type IndexedBlock,
  type IndexedParts,
} from "../records/indexed-block.ts";
import { StateEntries } from "../records/state-entries.ts";
import { IndexMismatchError, StateRootMismatchError } from "../store-errors.ts";
import type { BlockIndex } from "./index/block-index.ts";
import type { Applied } from "./index/block-rows.ts";
import { type CreateTrie, trieNodesOf } from "./nodes/computed-trie-nodes.ts";
import { restoreOldestState, type StateFiles } from "./retention/state-file.ts";
import { rootOf, type StatelessBlocks } from "./stateless-blocks.ts";
import type { WriteGuard } from "./write-guard.ts";

const REPLAY_BYTES_MAX = 8 << 20;

export type ReplayOptions = {
  readonly stateless?: StatelessBlocks | undefined;
  /** Rows are committed whenever so much of the log was read; 8 MiB if not given. */
  readonly replayBytesMax?: number;
  /** Called with bytes of the log after each commit. */
  readonly onReplay?: (progress: { readonly done: number; readonly total: number }) => void;
};

export type ReplayModules = {
  readonly log: LogReader;
  readonly kv: Kv;
  readonly index: BlockIndex;
  readonly files: StateFiles;
  readonly createTrie: CreateTrie;
  /** What the index says of its last block. */
  readonly applied: Applied | undefined;
  /** Merges wait where the disk has no space for them. */
  readonly guard: Pick<WriteGuard, "canWrite" | "assertWritable">;
};

/** `base` and `head` are undefined where the log is empty; `blocks` had to be indexed. */
export type Replayed = {
  readonly base: number | undefined;
  readonly head: Applied | undefined;
  readonly blocks: number;
};

/**
 * Brings the index up to the end of the log: indexes the blocks that it lacks, and puts in memory again what waited there for a merge.
 * @throws LogCorruptionError, IndexMismatchError, StateRootMismatchError; DiskFullError where an interrupted merge has no space
 */
export function replayLog(options: ReplayOptions, modules: ReplayModules): Replayed {
  const { log, index, applied } = modules;
  const base = index.blocks.firstNumber() ?? firstNumber(log);
  if (applied !== undefined) {
    assertIndexIsOfLog(applied, modules);
    const position = index.blocks.knownPosition(base!);
    if (position < log.start) {
      throw new LogCorruptionError({ position, reason: `segment of block ${base} is missing` });
    }
  }
  const known = applied ?? restored(base, modules);
  const start = known?.number ?? (base ?? 0) - 1;
  if (known === undefined && base === 0 && options.stateless === undefined) loadGenesis(modules);
  const head = replay(base ?? 0, index.applied()?.number ?? start, options, modules);
  return { base, head, blocks: (head?.number ?? start) - start };
}

/** One block of the log as the index takes it. */
export function indexedBlock(executed: IndexedBlock["executed"], record: LogRecord): IndexedBlock {
  const { position, payload, end } = record;
  return { executed, rows: decodeChangeRows(payload), position, end };
}

/** The block of a record as the last one of the index. */
export function appliedOf({ payload, end }: LogRecord): Applied {
  const { number, hash } = decodePrefix(payload);
  return { number, hash, end };
}

/** Makes the index of block 0, unless its changes are more than a state: then it is replayed as others are. */
function loadGenesis({ log, index }: ReplayModules): void {
  const { position, payload, end } = log.first()!;
  const executed = decodeHashesAndLogs(payload);
  const { stateRoot } = executed.block.header;
  const offset = decodePrefix(payload).changesOffset;
  const entries = new StateEntries(payload.subarray(offset));
  if (!entries.isState) return;
  index.writeGenesis(entries, (computed) => {
    if (computed !== stateRoot) {
      throw new StateRootMismatchError({ number: 0, computed, stored: stateRoot });
    }
    return { executed, position, offset, end };
  });
}

/** Makes the index of the oldest blocks and their state, where the log does not begin with block 0. */
function restored(base: number | undefined, modules: ReplayModules): Applied | undefined {
  const file = base === undefined || base === 0 ? undefined : modules.files.newest();
  return file && restoreOldestState(file, modules);
}

/** @param applied number of the last block in the index */
function replay(
  base: number,
  applied: number,
  { onReplay, replayBytesMax = REPLAY_BYTES_MAX, stateless }: ReplayOptions,
  { log, kv, index, createTrie, guard }: ReplayModules,
): Applied | undefined {
  const first = Math.max(base, index.merge.mergedBlocks);
  replayLogs(base, first, { log, index, guard });
  let interrupted = index.merge.interrupted();
  const before = first === base ? undefined : log.record(index.blocks.knownPosition(first - 1));
  const records = log.records(before?.end ?? 0);
  let trie: Pick<StateTrie, "update"> | undefined;
  let head = before && appliedOf(before);
  let root = before === undefined ? EMPTY_TRIE_ROOT : rootOf(decodeHeader(before.payload), stateless);
  for (let next = records.next(); !next.done; ) {
    const written: IndexedBlock[] = [];
    for (let bytes = 0; !next.done && bytes < replayBytesMax; next = records.next()) {
      if (head !== undefined && head.number + 1 === interrupted) break;
      const { position, payload, end } = next.value;
      const record = decodeIndexedParts(payload);
      const { number } = record.block.header;
      assertFollows(record.block, head, base, position);
      trie ??= createTrie(index.trieNodes);
      const nodes = trieNodesOf(record, trie, root, stateless);
      root = rootOf(record.block.header, stateless);
      const indexed = { executed: record, rows: record.rows, position, end };
      if (number > applied) written.push(indexed);
      index.remember(indexed, nodes);
      head = appliedOf(next.value);
      bytes += payload.length;
    }
    kv.transaction((writer) => {
      for (const block of written) index.write(writer, block);
    });
    const { number } = head!;
    if (number + 1 === interrupted) {
      guard.assertWritable();
      interrupted = undefined;
      index.merge.all(number);
    }
    // Until the interrupted merge is made again no other may begin: it would leave the rows of the first try.
    if (interrupted === undefined) while (guard.canWrite() && index.merge.isNeeded(number)) index.merge.some(number);
    if (!next.done) onReplay?.({ done: next.value.position, total: log.end });
  }
  return head;
}

/** Passes to the log index the blocks before `end` that it lacks. */
function replayLogs(
  base: number,
  end: number,
  { log, index, guard }: Pick<ReplayModules, "log" | "index" | "guard">,
): void {
  const { logs } = index;
  const first = Math.max(base, logs.mergedBlocks);
  if (first >= end) return;
  for (const { payload } of log.records(index.blocks.knownPosition(first))) {
    const record = decodeHashesAndLogs(payload);
    if (record.block.header.number >= end) break;
    logs.remember(record);
    while (guard.canWrite() && logs.needsMerge()) logs.mergeSome();
  }
}

function assertIndexIsOfLog(
  { number, hash, end }: Applied,
  { log, index }: Pick<ReplayModules, "log" | "index">,
): void {
  const position = index.blocks.position(number);
  const record = position === undefined ? undefined : log.recordAt(position);
  if (record?.end === end && decodePrefix(record.payload).hash === hash) return;
  const details = { number, hash };
  throw new IndexMismatchError(`index holds a block ${number} that the log has not`, details);
}

function assertFollows(
  { header }: IndexedParts["block"],
  head: Applied | undefined,
  base: number,
  position: number,
): void {
  const expected = head === undefined ? base : head.number + 1;
  if (header.number !== expected) {
    const reason = `block ${header.number} where ${expected} was expected`;
    throw new LogCorruptionError({ position, reason });
  }
  if (head !== undefined && header.parentHash !== head.hash) {
    throw new LogCorruptionError({ position, reason: `block ${expected} has another parent` });
  }
}

/** Number of the block that the log begins with. */
function firstNumber(log: LogReader): number | undefined {
  const first = log.first();
  return first && decodePrefix(first.payload).number;
}

import type { Kv, KvUndo, KvWriter } from "../../../store/storage/kv.ts";
import { META } from "../../../store/storage/schema.ts";
import type { VersionedTable } from "../../../store/storage/versioned-table.ts";
import { LOG_MERGE_LIMITS, type LogIndex, type LogMergeLimits } from "../../logs/log-index.ts";
import type { NodeHistory } from "../nodes/node-history.ts";
import type { TrieNodeTable } from "../nodes/trie-node-table.ts";
import { SlicePace } from "../slice-pace.ts";
import { metaKey, readVarint, varints } from "./block-rows.ts";

/** The parts of the index that hold new blocks in memory. */
export type MergedTables = {
  readonly accounts: VersionedTable;
  readonly slots: VersionedTable;
  readonly nodeHistory: NodeHistory;
  readonly trieNodes: TrieNodeTable;
  readonly logs: LogIndex;
};

/** A table that a merge writes, after those before it: of an account or a slot its history and its latest value. */
type MergeStep = {
  readonly table: Pick<VersionedTable, "mergeSome" | "mergingKeys">;
  readonly rowsOfKey: number;
  readonly pace: SlicePace;
};

/** Moves what waits in memory into rows, a slice at a time. A merge of all tables but the logs ends in a checkpoint. */
export class IndexMerge {
  readonly #kv: Kv;
  readonly #tables: MergedTables;
  readonly #limits: MergeLimits;
  readonly #undoMarks: UndoMarks;
  readonly #steps: readonly MergeStep[];
  #mergedBlocks: number;
  /** Number of merged blocks once the running merge ends; undefined if no merge runs. */
  #mergingBlocks: number | undefined;
  /** Merges that ended since the index was made. */
  #lastMerge: number;
  /** Approximate rows of the running merge, and how many of them are written. */
  #rows = 0;
  #writtenRows = 0;

  constructor(kv: Kv, tables: MergedTables, limits: MergeLimits, undoMarks: UndoMarks) {
    this.#kv = kv;
    this.#tables = tables;
    this.#limits = limits;
    this.#undoMarks = undoMarks;
    const { accounts, slots, nodeHistory, trieNodes } = tables;
    this.#steps = [
      { table: accounts, rowsOfKey: 2, pace: new SlicePace(limits.sliceMs) },
      { table: slots, rowsOfKey: 2, pace: new SlicePace(limits.sliceMs) },
      { table: nodeHistory, rowsOfKey: 1, pace: new SlicePace(limits.sliceMs) },
      { table: trieNodes, rowsOfKey: 1, pace: new SlicePace(limits.sliceMs) },
    ];
    this.#mergedBlocks = this.checkpoint();
    this.#lastMerge = readVarint(kv.get(metaKey(META.lastMerge))) ?? 0;
  }

  /** Blocks from genesis that are merged completely. */
  get mergedBlocks(): number {
    return this.#mergedBlocks;
  }

  /** For a reader beside the process that writes: that one has merged all blocks before `number`. */
  follow(number: number): void {
    this.#mergedBlocks = number;
  }

  /** Blocks from genesis at the last checkpoint, whose state all rows of trie nodes together are; 0 before the first. */
  checkpoint(): number {
    return readVarint(this.#kv.get(metaKey(META.checkpoint))) ?? 0;
  }

  /**
   * Where the process died in a merge: the number of blocks it was to end with. The same merge has to be made again before any other: some
   * rows are of its end.
   */
  interrupted(): number | undefined {
    const blocks = readVarint(this.#kv.get(metaKey(META.mergingBlocks))) ?? 0;
    return blocks > this.#mergedBlocks ? blocks : undefined;
  }

  /** True when the merge under way has blocks after `number`. */
  isMergingAfter(number: number): boolean {
    return number + 1 < (this.#mergingBlocks ?? 0);
  }

  /** Number of the merge under way, or of the next one. */
  get number(): number {
    return this.#lastMerge + 1;
  }

  /** True when `some` has something to do; `number` is the last block. */
  isNeeded(number: number): boolean {
    if (this.#mergingBlocks !== undefined || this.#tables.logs.needsMerge()) return true;
    return number + 1 - this.#mergedBlocks >= this.#limits.blocksMin || this.#waitingShare() >= 1;
  }

  /**
   * True when a part has to be merged before the next block: of the merge under way less is done than `pace` times what there is again of
   * what the next one will have, or none has begun though there was time. So memory is bounded, and each block pays for `pace` times what it
   * adds at most.
   */
  isLate(): boolean {
    const { logs } = this.#tables;
    const { beginLate, pace, areLogsAtOnce } = this.#limits.pacing ?? GENTLE_PACING;
    if (areLogsAtOnce ? logs.needsMerge() : logs.isMergeLate()) return true;
    const share = this.#waitingShare();
    if (this.#mergingBlocks === undefined) return share >= beginLate;
    return share >= 1 || this.#writtenRows < share * pace * this.#rows;
  }

  /** What waits for the next merge as a share of what begins one. */
  #waitingShare(): number {
    const { versionsMin, nodeBytesMin } = this.#limits;
    const { accounts, slots, nodeHistory, trieNodes } = this.#tables;
    const versions = accounts.recentVersions + slots.recentVersions;
    const nodeBytes = trieNodes.recentBytes + nodeHistory.recentBytes;
    return Math.max(versions / versionsMin, nodeBytes / nodeBytesMin);
  }

  /** Moves a part of what waits, up to block `number`, into rows; true while there is more to do. */
  some(number: number): boolean {
    // In slices: the first transaction of a merge would write all of it.
    if (this.#kv.buffer?.writeSome()) return true;
    this.#undoMarks.clear();
    const { logs } = this.#tables;
    if (logs.needsMerge()) {
      logs.mergeSome();
      return true;
    }
    if (this.#mergingBlocks === undefined) {
      this.#begin(number + 1);
      return true;
    }
    for (const { table, rowsOfKey, pace } of this.#steps) {
      pace.begin();
      const keys = table.mergeSome(this.#limits.keysMax, (written) => pace.isLate(written));
      pace.committed(keys);
      this.#writtenRows += keys * rowsOfKey;
      if (keys > 0) return true;
    }
    const blocks = this.#mergingBlocks;
    this.#kv.transaction((writer) => this.writeCheckpoint(writer, blocks));
    this.checkpointWritten(blocks);
    return false;
  }

  /** Moves a part of the logs that wait into rows. */
  logs(): void {
    this.#undoMarks.clear();
    this.#tables.logs.mergeSome();
  }

  /** Merges everything up to block `number`, the last one. */
  all(number: number): void {
    while (this.#mergedBlocks <= number) this.some(number);
  }

  #begin(blocks: number): void {
    const { accounts, slots, nodeHistory, trieNodes } = this.#tables;
    const row = varints(blocks);
    this.#kv.transaction((writer) => writer.put(metaKey(META.mergingBlocks), row));
    accounts.beginMerge();
    slots.beginMerge();
    nodeHistory.beginMerge();
    trieNodes.beginMerge(this.number);
    this.#rows = this.#steps.reduce((sum, { table, rowsOfKey }) => sum + table.mergingKeys * rowsOfKey, 0);
    this.#writtenRows = 0;
    this.#mergingBlocks = blocks;
  }

  /** The rows hold everything of `blocks` blocks; `checkpointWritten` follows once that is committed. */
  writeCheckpoint(writer: KvWriter, blocks: number): void {
    writer.put(metaKey(META.checkpoint), varints(blocks));
    writer.put(metaKey(META.lastMerge), varints(this.number));
    writer.put(metaKey(META.mergingBlocks), varints(0));
  }

  checkpointWritten(blocks: number): void {
    this.#lastMerge++;
    this.#mergedBlocks = blocks;
    this.#mergingBlocks = undefined;
    this.#rows = 0;
    this.#tables.trieNodes.endMerge();
  }
}

/** When history and trie nodes, which wait in memory, go to their rows. */
export type MergeLimits = {
  /** A merge begins when this many versions wait, and ends before as many wait again: it holds up blocks where it has to. */
  readonly versionsMin: number;
  /** The same for the bytes of trie nodes. */
  readonly nodeBytesMin: number;
  /** Or when this many blocks wait, so that a restart has few records to read again. */
  readonly blocksMin: number;
  /** Keys merged in one transaction, during which nothing else runs. */
  readonly keysMax: number;
  /** Milliseconds in which a transaction is to be through, with fewer. */
  readonly sliceMs?: number;
  /** Those of the log index, where they are not its own. */
  readonly logs?: LogMergeLimits;
  readonly pacing?: MergePacing;
  /**
   * Trie nodes that a later block replaces do not wait for a merge, and versions of nodes wait as rows: in a quarter of the memory, but blocks are not
   * undone in memory.
   */
  readonly dropsReplacedNodes?: boolean;
};

/** How far merges delay blocks if they cannot finish between them. */
export type MergePacing = {
  /** Multiple of the amount that begins a merge; a block starts the merge itself at this amount. */
  readonly beginLate: number;
  /** A merge ends by the time that one of this many parts of the next merge's beginning amount waits. */
  readonly pace: number;
  /** Blocks wait for the end of a merge of logs. */
  readonly areLogsAtOnce: boolean;
};

/** No block pays for many others. */
const GENTLE_PACING: MergePacing = { beginLate: 1.25, pace: 1, areLogsAtOnce: false };

/**
 * 50,000 versions take about 10 MB and are sorted in 10 ms. 48 MB of nodes are those of 45 blocks of 200 transfers among a million
 * accounts, computed again in less than a second. With more of them each merge writes fewer rows for a block: the nodes near the
 * roots are new in every block, and those below in every tenth.
 */
export const MERGE_LIMITS: MergeLimits = {
  versionsMin: 50_000,
  nodeBytesMin: 48 << 20,
  blocksMin: 1_000,
  keysMax: 2_000,
};

/**
 * For an import or a reindex, during which no request waits: a merge writes a key once, however many of its blocks have changed it, so
 * that fewer and longer ones write less. 120,000 versions, those of forty blocks of 2,000 token transfers, take 10 MB, the newest nodes of those
 * blocks 20, 100,000 postings 16. Transactions of more keys save no time,
 * and those of 6,000 made the index of 100,000 transfers 60 MB larger. What is merged stays in memory until the merge ends: no block is
 * waited for, so that merges begin in time and end early.
 */
export const BULK_MERGE_LIMITS: MergeLimits = {
  ...MERGE_LIMITS,
  versionsMin: 120_000,
  nodeBytesMin: 32 << 20,
  dropsReplacedNodes: true,
  pacing: { beginLate: 1, pace: 4, areLogsAtOnce: true },
  sliceMs: 20,
  logs: { ...LOG_MERGE_LIMITS, postingsMin: 100_000, logBytesMin: 16 << 20, rowsMax: 2_000 },
};

/** The states of an index after its newest blocks, as far as the store can go back to them. */
export class UndoMarks {
  readonly #undo: KvUndo | undefined;
  /** By block number, ascending. */
  readonly #marks = new Map<number, number>();

  /** @param undo undefined: there are never any marks */
  constructor(undo: KvUndo | undefined) {
    this.#undo = undo;
  }

  /** The rows are those of the state after block `number`. */
  add(number: number): void {
    if (this.#undo === undefined) return;
    this.#marks.set(number, this.#undo.mark());
    for (const [oldest, mark] of this.#marks) {
      if (this.#undo.canUndoTo(mark)) break;
      this.#marks.delete(oldest);
    }
  }

  /** To be called when something moves from memory into rows, or rows change otherwise: undoing that would lose it. */
  clear(): void {
    this.#marks.clear();
  }

  /** Undoes what was written since block `number` was added; false, and nothing happens, where that is not possible. */
  undoTo(number: number): boolean {
    const mark = this.#marks.get(number);
    if (this.#undo === undefined || mark === undefined || !this.#undo.canUndoTo(mark)) return false;
    this.#undo.undoTo(mark);
    let newer = number + 1;
    while (this.#marks.delete(newer)) newer++;
    return true;
  }
}

import type { Kv, KvWriter } from "../../../storage/kv.ts";
import { META } from "../../../storage/schema.ts";
import type { VersionedTable } from "../../../storage/versioned-table.ts";
import type { LogIndex } from "../../logs/log-index.ts";
import type { NodeHistory } from "../nodes/node-history.ts";
import type { TrieNodeTable } from "../nodes/trie-node-table.ts";
import { metaKey, readVarint, varints } from "./index-rows.ts";
import type { MergeLimits } from "./merge-limits.ts";
import type { UndoMarks } from "./undo-marks.ts";

/** Half of the longest pause a node may have: the commit of the transaction comes on top. */
const SLICE_MS = 8;
/** Of what begins a merge, how much may wait until a block has to begin it. */
const BEGIN_LATE = 1.25;

/** The parts of the index that hold new blocks in memory. */
export type MergedTables = {
  readonly accounts: VersionedTable;
  readonly slots: VersionedTable;
  readonly nodeHistory: NodeHistory;
  readonly trieNodes: TrieNodeTable;
  readonly logs: LogIndex;
};

/** Moves what waits in memory into rows, a slice at a time. A merge of all tables but the logs ends in a checkpoint. */
export class IndexMerge {
  readonly #kv: Kv;
  readonly #tables: MergedTables;
  readonly #limits: MergeLimits;
  readonly #undoMarks: UndoMarks;
  #mergedBlocks: number;
  /** Blocks that will be merged when the merge under way ends; undefined when there is none. */
  #mergingBlocks: number | undefined;
  /** Merges that ended since the index was made. */
  #lastMerge: number;
  /** Keys of the merge under way, and how many of them are written. */
  #keys = 0;
  #writtenKeys = 0;

  constructor(kv: Kv, tables: MergedTables, limits: MergeLimits, undoMarks: UndoMarks) {
    this.#kv = kv;
    this.#tables = tables;
    this.#limits = limits;
    this.#undoMarks = undoMarks;
    this.#mergedBlocks = this.checkpoint();
    this.#lastMerge = readVarint(kv.get(metaKey(META.lastMerge))) ?? 0;
  }

  /** Blocks from genesis of which nothing waits for a merge. */
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
   * True when a part has to be merged before the next block: of the merge under way less is done than there is again of what the next one
   * will have, or none has begun though there was time. So memory is bounded, and each block pays for as much as it adds.
   */
  isLate(): boolean {
    if (this.#tables.logs.isMergeLate()) return true;
    const share = this.#waitingShare();
    if (this.#mergingBlocks === undefined) return share >= BEGIN_LATE;
    return share >= 1 || this.#writtenKeys < share * this.#keys;
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
    this.#undoMarks.clear();
    const { accounts, slots, nodeHistory, trieNodes, logs } = this.#tables;
    if (logs.needsMerge()) {
      logs.mergeSome();
      return true;
    }
    if (this.#mergingBlocks === undefined) {
      this.#begin(number + 1);
      return true;
    }
    const { keysMax, sliceMs = SLICE_MS } = this.#limits;
    const end = performance.now() + sliceMs;
    const isLate = () => performance.now() >= end;
    for (const table of [accounts, slots, nodeHistory, trieNodes]) {
      const keys = table.mergeSome(keysMax, isLate);
      this.#writtenKeys += keys;
      if (keys > 0) return true;
    }
    const blocks = this.#mergingBlocks;
    this.#kv.transaction((writer) => this.writeCheckpoint(writer, blocks), true);
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
    accounts.beginMerge();
    slots.beginMerge();
    nodeHistory.beginMerge();
    trieNodes.beginMerge(this.number);
    this.#keys = [accounts, slots, nodeHistory, trieNodes].reduce(
      (sum, table) => sum + table.mergingKeys,
      0,
    );
    this.#writtenKeys = 0;
    this.#mergingBlocks = blocks;
    const row = varints(blocks);
    this.#kv.transaction((writer) => writer.put(metaKey(META.mergingBlocks), row), true);
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
    this.#keys = 0;
    this.#tables.trieNodes.endMerge();
  }
}

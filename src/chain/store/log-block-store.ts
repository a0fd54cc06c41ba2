import { InvariantError, invariant } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { sameAccount } from "../../evm/state/account.ts";
import type { StateChanges } from "../../evm/state/reader.ts";
import { assertWholeState } from "../../evm/state/state-changes.ts";
import { type Kv, KvMissingRowError, type MissingRow } from "../../store/storage/kv.ts";
import { type BlockLog, openBlockLog } from "../../store/storage/log/block-log.ts";
import type { NodeBatch } from "../../store/trie/node-batch.ts";
import { AddressIndex } from "../addresses/address-index.ts";
import type { BlockRecord, BlockStore, GenesisState } from "../block-store.ts";
import { type LogSource, logsFrom } from "../logs/log-filter.ts";
import { decodePrefix, encodeIndexedRecord, joinBlockRecord } from "../records/block-record.ts";
import type { IndexedBlock } from "../records/indexed-block.ts";
import { StateEntries } from "../records/state-entries.ts";
import { BackgroundWork } from "./background-work.ts";
import { BlockRangeMark, type RangeStart } from "./block-range.ts";
import { CACHE_BYTES, divideCacheSize, type StoreCacheSizes } from "./cache-sizes.ts";
import { checkStore, type StoreReport } from "./check-store.ts";
import { type FollowedStore, HeadPublisher } from "./follow/published-head.ts";
import { BlockIndex } from "./index/block-index.ts";
import { type Applied, readApplied } from "./index/block-rows.ts";
import { type CreateTrie, trieNodesOf } from "./nodes/computed-trie-nodes.ts";
import type { StateSinkOf } from "./nodes/ordered-state.ts";
import { appliedOf, indexedBlock, replayLog } from "./replay-log.ts";
import { type PrunePlan, RetentionWork } from "./retention/retention.ts";
import { StateFiles } from "./retention/state-file.ts";
import { type StatePiece, statePieces } from "./retention/state-pieces.ts";
import type { HashedKeys } from "./state/hashed-keys.ts";
import type { StatelessBlocks } from "./stateless-blocks.ts";
import type { LogBlockStoreOptions } from "./store-options.ts";
import { StoreView } from "./store-view.ts";
import { WriteGuard } from "./write-guard.ts";

/** Transactions of a block whose rows are written at once: what waits in memory is written in parts of some milliseconds. */
const LARGE_BLOCK = 2_000;

/**
 * Opens the store and brings its index up to the end of the log.
 * @throws LogCorruptionError, UnknownFormatError, KvCorruptionError
 */
export function openLogBlockStore(options: LogBlockStoreOptions): LogBlockStore {
  const { segmentBytesMax, failPoint = () => {} } = options;
  const range = new BlockRangeMark(options.log);
  const start = range.read();
  const log = openBlockLog({
    directory: options.log,
    durableEnd: readApplied(options.index)?.end ?? 0,
    acknowledgedEnd: start?.end,
    failPoint,
    ...(segmentBytesMax !== undefined && { segmentBytesMax }),
  });
  try {
    const store = new LogBlockStore(options, log, range);
    store.removeUnfinishedRange(start);
    return store;
  } catch (error) {
    log.close();
    throw error;
  }
}

function openIndex(options: LogBlockStoreOptions, log: BlockLog, codeBytesMax: number): BlockIndex {
  const missingRow: MissingRow = (key) => {
    const error = new KvMissingRowError({ key: bytesToHex(key) });
    options.onDamage?.(error);
    return error;
  };
  return new BlockIndex(options.index, log, {
    limits: options.mergeLimits,
    missingRow,
    codeBytesMax,
    canUndo: options.retention === undefined,
  });
}

/** Blocks in an append-only log, found through an index that can be made from it at any time. */
export class LogBlockStore extends StoreView implements BlockStore {
  readonly #kv: Kv;
  readonly #log: BlockLog;
  readonly #failPoint: ((name: string) => void) | undefined;
  readonly #onClosed: () => void;
  readonly #onDamage: (error: Error) => void;
  readonly #createTrie: CreateTrie;
  readonly #stateless: StatelessBlocks | undefined;
  #base: number | undefined;
  override newest: Applied | undefined = undefined;
  readonly #retention: RetentionWork | undefined;
  readonly #guard: WriteGuard;
  readonly #background: BackgroundWork;
  readonly addressIndex: AddressIndex;
  readonly #range: BlockRangeMark;
  /** Blocks are appended that are published together. */
  #isGrouped = false;
  #epoch = 0;
  #waiting: (() => void)[] = [];
  readonly #published = new HeadPublisher();
  /** For `StoreFollower`s in other threads; undefined where they could not open the index. */
  readonly followable: FollowedStore | undefined;
  /** Blocks that opening had to put into the index. */
  readonly replayedBlocks: number;

  /** `openLogBlockStore` closes the log where this fails. */
  constructor(options: LogBlockStoreOptions, log: BlockLog, range: BlockRangeMark) {
    const { createTrie, caches = divideCacheSize(CACHE_BYTES) } = options;
    super({
      log,
      index: openIndex(options, log, caches.codes),
      createTrie,
      caches,
      stateless: options.stateless,
      decodesHead: options.decodesHead,
      isWriter: true,
    });
    const { failPoint, onClosed = () => {}, onDamage = () => {}, freeBytes = () => Infinity } = options;
    const { index: kv, log: directory, followableIn } = options;
    const { index, blocks } = this;
    this.#kv = kv;
    this.#log = log;
    this.#range = range;
    this.#failPoint = failPoint;
    this.#createTrie = createTrie;
    this.#stateless = options.stateless;
    this.#onClosed = onClosed;
    this.#onDamage = onDamage;
    this.#guard = new WriteGuard(freeBytes);
    if (followableIn !== undefined) {
      this.followable = { directory: followableIn, head: this.#published.buffer };
    }
    const replayed = replayLog(options, {
      log,
      kv,
      index,
      createTrie,
      files: new StateFiles(directory),
      applied: readApplied(kv),
      guard: this.#guard,
    });
    this.#base = replayed.base;
    this.newest = replayed.head;
    this.replayedBlocks = replayed.blocks;
    this.addressIndex = new AddressIndex(options.addressIndex ?? false, {
      kv,
      source: {
        head: () => this.head(),
        base: () => this.#base ?? 0,
        block: (number) => this.#knownRecord(number),
        parts: (number) => blocks.addressParts(number),
      },
    });
    const addresses = this.addressIndex;
    const onMoved = () => this.#baseMoved();
    this.#retention =
      options.retention &&
      new RetentionWork(options.retention, {
        directory,
        log,
        kv,
        index,
        blocks,
        addresses,
        onMoved,
      });
    if (this.newest !== undefined) index.markState(this.newest.number);
    this.#baseMoved();
    this.#background = new BackgroundWork(options, {
      guard: this.#guard,
      index,
      buffer: this.#kv.buffer,
      retention: this.#retention,
      addressIndex: addresses,
      head: () => this.head(),
    });
    this.#background.schedule();
    this.#publish();
  }

  /** Another reader of the index met damage in it: the next start makes it anew. */
  noteDamage(error: Error): void {
    this.#onDamage(error);
  }

  /** Nothing is written until `checked`: what is read may be wrong. */
  holdUntilChecked(): void {
    this.#guard.hold();
  }

  /** Every page of the index was read, and is whole. */
  checked(): void {
    this.#guard.release();
    this.#background.schedule();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** The index is in use, but has not been read completely yet. */
  get isUnchecked(): boolean {
    return this.#guard.isHeld;
  }

  /** Resolves once the index was checked; never where damage is found, which ends the process. */
  untilChecked(): Promise<void> {
    if (!this.isUnchecked) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** What is read may be wrong: nothing is written any more. */
  giveUp(error: Error): void {
    this.#guard.poison(error);
  }

  /** As published (`HeadPosition`). */
  get epoch(): number {
    return this.#epoch;
  }

  /** The logs of all blocks up to the head. */
  get logs(): LogSource {
    return logsFrom(
      () => this.#base ?? 0,
      this.index.logs,
      () => this.#epoch,
    );
  }

  /** Length of each code that was ever deployed. */
  codeLengths(): Iterable<number> {
    return this.index.codeLengths();
  }

  override base(): number | undefined {
    return this.#base;
  }

  override stateBase(): number {
    return Math.max(this.#base ?? 0, this.#stateless?.last ?? 0, this.index.pruned.states.base);
  }

  /**
   * @throws DiskFullError, LogWriteError, StoreUncheckedError: it may be tried again; LogPoisonedError, StorePoisonedError;
   * InvalidStateError, StateRootMismatchError for a base whose changes are not its state
   */
  append(record: BlockRecord, nodes: NodeBatch): void {
    if (!this.#isGrouped) this.endRange();
    // Rows that do not wait would be of blocks that a power cut takes. Those of a group are far fewer than what may wait, whose oldest are written first.
    const isSynced = !(this.#isGrouped && this.#range.isSet) || this.#kv.buffer === undefined;
    this.#append(record, nodes, (payload) =>
      isSynced ? this.#log.append(payload) : this.#log.appendUnsynced(payload),
    );
  }

  /** Blocks that `work` appends are seen by other threads, and followed by work of the background, once all are there. In a range they are synced once. */
  appendTogether(work: () => void): void {
    const { end } = this.#log;
    this.#isGrouped = true;
    try {
      work();
    } finally {
      this.#isGrouped = false;
      if (this.#log.end !== end) {
        this.#guard.orPoison(() => {
          if (this.#range.isSet) this.#log.sync();
          this.#publish();
          this.#background.scheduleAfterBlock();
        });
      }
    }
  }

  /**
   * Blocks that are appended together from now on are there all or, after a crash, none, until `endRange`. A block that is appended alone, and a
   * rollback, end the range.
   * @throws what writing the mark throws; then there is no range
   */
  beginRange(): void {
    this.#guard.assertWritable();
    invariant(this.newest !== undefined, "a range must follow a block");
    try {
      this.#range.set(this.newest);
    } catch (error) {
      // A mark that stays would take acknowledged blocks with it.
      this.endRange();
      throw error;
    }
  }

  /** False: blocks since `beginRange` are there to stay. */
  get isInRange(): boolean {
    return this.#range.isSet;
  }

  endRange(): void {
    if (!this.#range.isSet) return;
    this.#guard.orPoison(() => this.#range.clear());
  }

  /** @param start of the unfinished range; undefined if its mark was never written, in which case the range has no blocks */
  removeUnfinishedRange(start: RangeStart | undefined): void {
    const head = this.head();
    if (start !== undefined && head !== undefined && head > start.number) {
      if (this.blockHash(start.number) === start.hash) this.rollbackTo(start.number);
    }
    this.endRange();
  }

  /**
   * Adds blocks as `append` does, and returns once all of them are durable. A crash may leave any number of the first ones. For a store
   * without readers.
   */
  appendAll(records: Iterable<readonly [BlockRecord, NodeBatch]>): void {
    for (const [record, nodes] of records) {
      this.#append(record, nodes, (payload) => this.#log.appendUnsynced(payload));
    }
    this.#guard.orPoison(() => this.#log.sync());
  }

  #append(record: BlockRecord, nodes: NodeBatch, write: (payload: Uint8Array) => number): void {
    this.#guard.assertWritable();
    const { number, parentHash } = record.block.header;
    const isNext = this.newest === undefined || (number === this.newest.number + 1 && parentHash === this.newest.hash);
    if (!isNext) throw new InvariantError(`block ${number} must be the child of head ${this.head()}`);
    if (this.newest === undefined && number > 0) this.#assertWholeState(record);
    this.#failPoint?.("append:begin");
    const { payload, rows } = encodeIndexedRecord(record, this.#unchangedAccounts(record.changes));
    const position = write(payload);
    const block: IndexedBlock = { executed: record, rows, position, end: this.#log.end };
    this.#failPoint?.("append:index");
    // The rows of a large block take longer to write than what waits may take at once, so they do not.
    const kv = record.block.transactions.length < LARGE_BLOCK ? (this.#kv.buffer ?? this.#kv) : this.#kv;
    try {
      kv.transaction((writer) => {
        this.index.write(writer, block);
        this.#failPoint?.("append:commit");
      });
    } catch (error) {
      this.#guard.orPoison(() => {
        // A commit can fail after it was made. Then the index has the block, and without its record the log would count as damaged.
        if (this.index.applied()?.hash === record.block.hash) throw error;
        // The block was not published, so it can still be removed.
        this.#log.truncateTo(position);
      });
      throw error;
    }
    // The block is there: where memory does not get all of it, only opening the store again can tell what is.
    this.#guard.orPoison(() => {
      this.#failPoint?.("append:committed");
      this.index.remember(block, nodes);
      this.index.markState(number);
      this.newest = { number, hash: record.block.hash, end: block.end };
      this.#base ??= number;
      this.headState.apply(record.changes, block.rows);
      this.blocks.addHead(record, payload);
      if (!this.#isGrouped) {
        this.#publish();
        this.#background.scheduleAfterBlock();
      }
      this.#failPoint?.("append:end");
    });
  }

  appendGenesis({ state: stateOf, blockOf }: GenesisState): void {
    this.#guard.assertWritable();
    invariant(this.newest === undefined, "block 0 is the first");
    const state = stateOf();
    // The rows come in many transactions: where one fails, the next start writes them from the log.
    this.#guard.orPoison(() =>
      this.index.writeGenesis(
        new StateEntries(state),
        (stateRoot) => {
          const executed = blockOf(stateRoot);
          const { payload, offset } = joinBlockRecord(executed, state);
          const position = this.#log.append(payload);
          return { executed, position, offset, end: this.#log.end };
        },
        () => this.#failPoint?.("genesis:rows"),
      ),
    );
    this.index.markState(0);
    this.newest = this.index.applied();
    this.#base = 0;
    this.#publish();
    this.#background.schedule();
  }

  changes(number: number): StateChanges {
    return this.#knownRecord(number).changes;
  }

  consensusDataOf(number: number): Uint8Array {
    return this.#knownRecord(number).consensusData;
  }

  /** Memory that each cache of the store takes now. */
  cacheBytes(): StoreCacheSizes {
    return {
      headState: this.headState.bytes,
      historicStates: this.historic.bytes,
      blocks: this.blocks.decodedBytes,
      codes: this.index.codeBytes,
    };
  }

  /** Bytes of the block log. */
  get logBytes(): number {
    return this.#log.end - this.#log.start;
  }

  /** Value of a row of the index. @param key 1 to 512 bytes */
  row(key: Uint8Array): Uint8Array | undefined {
    return this.#kv.get(key);
  }

  /** Moves a part of what waits in memory into rows of the index; false when nothing does. */
  mergeSome(): boolean {
    this.#guard.assertWritable();
    const head = this.head();
    if (head === undefined) return false;
    if (this.index.merge.mergedBlocks <= head) this.#guard.orPoison(() => this.index.merge.some(head));
    else if (this.index.logs.mergedBlocks <= head) {
      this.#guard.orPoison(() => this.index.merge.logs());
    } else return false;
    return true;
  }

  /** What pruning would remove now; undefined while the store is empty or nothing is to be pruned. */
  prunePlan(): PrunePlan | undefined {
    const head = this.head();
    return head === undefined ? undefined : this.#retention?.plan(head);
  }

  /** Removes a part of what the retention does not ask for; false when nothing is left. */
  pruneSome(): boolean {
    this.#guard.assertWritable();
    const head = this.head();
    const retention = this.#retention;
    if (head === undefined || !retention?.needsWork(head)) return false;
    this.#guard.orPoison(() => retention.workSome(head));
    return true;
  }

  /** Blocks that the pass of pruning under way has still to look at. */
  get blocksToPrune(): number {
    return this.#retention?.blocksLeft ?? 0;
  }

  /** The states from block `number` on are not pruned until the returned function is called. */
  pinState(number: number): () => void {
    this.assertNotPruned(number, this.stateBase());
    return this.#retention?.pin(number) ?? (() => {});
  }

  /**
   * All of the state after block `number`, which must be pinned, as `statePieces` gives it. What waits in memory is merged first, a slice for each undefined.
   * Blocks can be added meanwhile.
   */
  *statePieces(number: number, sinkOf?: StateSinkOf): Generator<StatePiece | undefined> {
    // Tables of keys by their hashes lack those that wait.
    while (this.index.merge.mergedBlocks <= number) {
      this.mergeSome();
      yield undefined;
    }
    const { accounts, slots } = this.index;
    yield* statePieces({ kv: this.#kv, accounts, slots }, number, this.blocks.header(number).stateRoot, sinkOf);
  }

  /** Every address that has or had an account, in any order. */
  addresses(): Iterable<Address> {
    return this.index.addresses();
  }

  get hashedKeys(): HashedKeys {
    return this.index.hashedKeys;
  }

  /**
   * Takes the blocks from the index first: a crash before the log is cut brings them all back, one
   * the other way round would leave an index of blocks that nothing can describe any more.
   */
  rollbackTo(number: number): void {
    this.#guard.assertReleased();
    invariant(this.isStored(number), `block ${number} must be stored to go back to it`);
    this.assertNotPruned(number, this.proofBase());
    if (number === this.head()) return;
    const kept = this.#log.record(this.positionOf(number));
    const last = appliedOf(kept);
    this.headState.forget();
    this.historic.forget();
    this.#startEpoch();
    try {
      this.#guard.orPoison(() => {
        if (this.index.undoTo(number)) this.addressIndex.reload();
        else this.#removeRowsAfter(last);
        this.#failPoint?.("rollback:log");
        this.#log.truncateTo(kept.end);
      });
    } finally {
      // Also where the log could not be cut, or not be synced after it: the record of `last` and those before it are in it in any case. Where the rows
      // are those of before, the log has not been touched.
      if (this.index.applied()?.hash === last.hash) {
        this.blocks.forgetAfter(number);
        this.newest = last;
      }
      this.#startEpoch();
    }
    this.endRange();
    this.#background.schedule();
  }

  /** Makes `last` the last block of the index. */
  #removeRowsAfter(last: Applied): void {
    const removed: IndexedBlock[] = [];
    const records: BlockRecord[] = [];
    for (const logRecord of this.#log.records(last.end)) {
      // Mostly decoded already: the newest blocks are.
      const record = this.blocks.record(decodePrefix(logRecord.payload).number);
      records.push(record);
      removed.push(indexedBlock(record, logRecord));
    }
    const { number } = last;
    const head = this.newest!.number;
    this.addressIndex.rollback(number, records);
    this.index.rollback(last, removed, () => this.computed.nodesBack(this.trieNodes, head, number));
  }

  /**
   * Reads the whole store and compares log and index. Takes minutes on a long chain. Finishes the pass of pruning under way, which a killed
   * process leaves: rows that are still to be removed are no faults.
   */
  check(): StoreReport {
    this.#guard.assertUsable();
    const retention = this.#retention;
    if (retention !== undefined && this.#guard.canWrite()) this.#guard.orPoison(() => retention.finishPass());
    const { index, addressIndex: addresses } = this;
    return checkStore({ log: this.#log, index, kv: this.#kv, addresses });
  }

  override close(): void {
    if (this.#guard.isClosed) return;
    try {
      // Spares the next start the work of bringing back what waits in memory; nothing depends on it.
      const head = this.head();
      const canMerge = head !== undefined && this.#guard.canWrite();
      if (canMerge) this.index.merge.all(head);
      if (canMerge) this.#kv.buffer?.writeAll();
      while (canMerge && this.index.logs.mergedBlocks <= head) this.index.merge.logs();
    } finally {
      this.#guard.close();
      this.#published.close();
      this.#retention?.close();
      this.#log.close();
      this.#kv.close();
      this.#onClosed();
    }
  }

  #knownRecord(number: number): BlockRecord {
    const record = this.record(number);
    invariant(record !== undefined, `block ${number} must be known`);
    return record;
  }

  /** Accounts whose slots alone differ. The block hands in every account it wrote to, with its value. */
  #unchangedAccounts({ accounts }: StateChanges): ReadonlySet<Address> {
    const unchanged = new Set<Address>();
    for (const { address, account, storage } of accounts) {
      // One without slots is there because it changed: no need to look.
      if (storage.size === 0 || account === null) continue;
      if (sameAccount(account, this.headState.decoded.account(address))) unchanged.add(address);
    }
    return unchanged;
  }

  /** Asserts that the changes of a base are all of its state. @throws InvalidStateError, StateRootMismatchError */
  #assertWholeState(base: BlockRecord): void {
    assertWholeState(base.changes);
    trieNodesOf(base, this.#createTrie(this.trieNodes), EMPTY_TRIE_ROOT, this.#stateless);
  }

  /**
   * Publishes the head to other processes too, from now on.
   * @param onFailure called once when the file can no longer be written: from then on its readers see an old head
   */
  publishToFile(path: string, onFailure: (error: unknown) => void): void {
    this.#published.toFile(path, onFailure);
    this.#publish();
  }

  /** Readers in other threads and processes wait while the epoch is odd, and read again what they read before it. */
  #startEpoch(): void {
    this.#epoch++;
    this.#publish();
  }

  #publish(): void {
    this.#published.publish({
      epoch: this.#epoch,
      number: this.newest?.number ?? -1,
      end: this.newest?.end ?? 0,
      mergedBlocks: this.index.merge.mergedBlocks,
      base: this.#base ?? 0,
      stateBase: this.stateBase(),
      logStart: this.#log.start,
    });
  }

  /** The oldest block or state that is served, or the start of the log, has moved. */
  #baseMoved(): void {
    if (this.#base === undefined) return;
    this.#base = Math.max(this.#base, this.index.pruned.blocks.base);
    this.#publish();
  }
}

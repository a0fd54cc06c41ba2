import { randomInt } from "node:crypto";
import type { Hash } from "../../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import type { AccountChange } from "../../../evm/state/reader.ts";
import { ByteReader, ByteWriter } from "../../../store/storage/byte-io.ts";
import type { Kv } from "../../../store/storage/kv.ts";
import type { LogDirectory, LogFile } from "../../../store/storage/log/log-file.ts";
import { LogCorruptionError, type LogReader } from "../../../store/storage/log/log-reader.ts";
import {
  encodeRecord,
  encodeSegmentHeader,
  RECORD_HEADER_LENGTH,
  readRecord,
  readSegmentHeader,
  SEGMENT_HEADER_LENGTH,
  scanRecords,
} from "../../../store/storage/log/log-segment.ts";
import { LOG_FORMAT } from "../../../store/storage/schema.ts";
import { decodeBlockRecord, decodeHeader, decodePrefix } from "../../records/block-record.ts";
import { encodeChanges } from "../../records/changes-record.ts";
import { assertRecordKind, RECORD_KIND } from "../../records/header-record.ts";
import type { BlockIndex } from "../index/block-index.ts";
import type { Applied } from "../index/block-rows.ts";
import { loadState } from "./load-state.ts";
import type { StatePiece } from "./state-pieces.ts";

const VERSION = 1;
const END_LENGTH = 2 + 8 + 32;
/** A part is written when its entries take about so many bytes: a millisecond or two of encoding. */
const PART_BYTES = 64 << 10;
/** Synced together: some milliseconds of most disks, where all at the end would be a pause that grows with the state. */
const SYNC_BYTES = 1 << 20;
/** An account, and a slot, with what is written around them; an upper bound. */
const ACCOUNT_BYTES = 128;
const SLOT_BYTES = 70;

/**
 * All of the state after one block in a file beside the log, from which the index is made when the blocks before it are gone.
 *
 *     file    header of a segment whose base is the block number ‖ part* ‖ end, each framed as a record of the log
 *     part    kind 2 ‖ version ‖ changes that lead from nothing to a part of the state (changes-record.ts)
 *     end     kind 3 ‖ version ‖ number u64 ‖ block hash 32
 *
 * The end is written once all parts are on disk: a file without one is unfinished.
 */
export type StateFile = { readonly number: number; readonly hash: Hash; readonly bytes: number };

const NAME = /^(\d{16})\.state$/;

/** The state files in the directory of a log. */
export class StateFiles {
  readonly directory: LogDirectory;

  constructor(directory: LogDirectory) {
    this.directory = directory;
  }

  /** The newest whole one. */
  newest(): StateFile | undefined {
    return newestStateFile(this.directory);
  }

  /** The changes in a file that `newest` gave, a part at a time (changes-record.ts). @throws LogCorruptionError */
  *read({ number }: StateFile): Generator<ByteReader> {
    const file = this.directory.open(nameOf(number));
    try {
      const { salt } = readSegmentHeader(file)!;
      const end = file.size() - RECORD_HEADER_LENGTH - END_LENGTH;
      for (const { offset, payload } of scanRecords(file, salt, SEGMENT_HEADER_LENGTH, end)) {
        if (payload === undefined) {
          const reason = `damaged part in the state file of block ${number}`;
          throw new LogCorruptionError({ position: offset, reason });
        }
        const reader = new ByteReader(payload);
        assertRecordKind(reader, RECORD_KIND.statePart, VERSION);
        yield reader;
      }
    } finally {
      file.close();
    }
  }

  /** @param codeOf code by its hash, for `add` */
  create(number: number, hash: Hash, codeOf?: (codeHash: Hash) => Uint8Array): StateFileWriter {
    return new StateFileWriter(this.directory, { number, hash, bytes: 0 }, codeOf);
  }

  /** Removes all but the newest whole one, with a pause after each: the system takes some milliseconds for a large file. */
  *removeOld(): Generator<void> {
    const newest = this.newest();
    for (const name of this.#names()) {
      if (newest !== undefined && name === nameOf(newest.number)) continue;
      this.directory.remove(name);
      yield;
    }
    this.directory.sync();
  }

  #names(): string[] {
    return this.directory.list().filter(isStateFile);
  }
}

/** The newest whole state file in the directory of a log, with its name there. */
export function newestStateFile(
  directory: Pick<LogDirectory, "list" | "open">,
): (StateFile & { readonly name: string }) | undefined {
  for (const name of directory.list().filter(isStateFile).reverse()) {
    const file = directory.open(name);
    try {
      const found = readEnd(file);
      if (found !== undefined) return { ...found, name };
    } finally {
      file.close();
    }
  }
  return undefined;
}

function isStateFile(name: string): boolean {
  return NAME.test(name);
}

/** Writes one state file. */
export class StateFileWriter {
  readonly #directory: LogDirectory;
  readonly #file: LogFile;
  readonly #target: StateFile;
  readonly #codeOf: ((codeHash: Hash) => Uint8Array) | undefined;
  readonly #salt = randomInt(2 ** 32);
  readonly #writtenCodes = new Set<Hash>();
  #accounts: AccountChange[] = [];
  #codes = new Map<Hash, Uint8Array>();
  #partBytes = 0;
  #size: number;
  #synced = 0;

  constructor(directory: LogDirectory, target: StateFile, codeOf: ((codeHash: Hash) => Uint8Array) | undefined) {
    this.#directory = directory;
    this.#target = target;
    this.#codeOf = codeOf;
    this.#file = directory.open(nameOf(target.number));
    this.#file.truncate(0);
    const header = { format: LOG_FORMAT, base: target.number, salt: this.#salt };
    this.#file.write(encodeSegmentHeader(header), 0);
    this.#size = SEGMENT_HEADER_LENGTH;
  }

  add({ address, account, storage }: StatePiece): void {
    const { codeHash } = account;
    if (codeHash !== EMPTY_CODE_HASH && !this.#writtenCodes.has(codeHash)) {
      const code = this.#codeOf!(codeHash);
      this.#writtenCodes.add(codeHash);
      this.#codes.set(codeHash, code);
      this.#partBytes += code.length;
    }
    this.#accounts.push({ address, account, storage, storageCleared: false });
    this.#partBytes += ACCOUNT_BYTES + storage.size * SLOT_BYTES;
    if (this.#partBytes >= PART_BYTES) this.#writePart();
  }

  /** @param changes that lead from nothing to the next part of the state (changes-record.ts) */
  addPart(changes: Uint8Array): void {
    const part = new ByteWriter(changes.length + 2);
    part.byte(RECORD_KIND.statePart);
    part.byte(VERSION);
    part.bytes(changes);
    this.#append(part.finish());
  }

  /** True when `sync` is to be called before the next piece. */
  get needsSync(): boolean {
    return this.#size - this.#synced >= SYNC_BYTES;
  }

  /** To be called after the last piece too: all that was added is on disk then. */
  sync(): void {
    if (this.#accounts.length > 0) this.#writePart();
    this.#file.sync();
    this.#synced = this.#size;
  }

  /** After `sync`. Returns when the file is whole and on disk to stay. */
  finish(): StateFile {
    const end = new ByteWriter(END_LENGTH);
    end.byte(RECORD_KIND.stateEnd);
    end.byte(VERSION);
    end.skip(8);
    end.patchU64(2, this.#target.number);
    end.hex(this.#target.hash);
    this.#append(end.finish());
    this.#file.sync();
    this.#directory.sync();
    this.#file.close();
    return { ...this.#target, bytes: this.#size };
  }

  /** Leaves an unfinished file. */
  abandon(): void {
    this.#file.close();
  }

  #writePart(): void {
    this.addPart(encodeChanges({ accounts: this.#accounts, codes: this.#codes }));
    this.#accounts = [];
    this.#codes = new Map();
    this.#partBytes = 0;
  }

  #append(payload: Uint8Array): void {
    const record = encodeRecord(payload, this.#salt);
    this.#file.write(record, this.#size);
    this.#size += record.length;
  }
}

function nameOf(number: number): string {
  return `${number.toString().padStart(16, "0")}.state`;
}

function readEnd(file: LogFile): StateFile | undefined {
  const header = readSegmentHeader(file);
  const at = file.size() - RECORD_HEADER_LENGTH - END_LENGTH;
  if (header === undefined || at < SEGMENT_HEADER_LENGTH) return undefined;
  const payload = readRecord(file, header.salt, at);
  if (payload === undefined) return undefined;
  const reader = new ByteReader(payload);
  assertRecordKind(reader, RECORD_KIND.stateEnd, VERSION);
  return { number: reader.u64(), hash: reader.hex(32) as Hash, bytes: file.size() };
}

/**
 * Fills an empty index from a log whose first blocks are gone: the state from a state file, and the blocks up to the block of this file.
 * Later blocks are replayed as usual.
 * @throws LogCorruptionError, StateRootMismatchError, InvalidStateError
 */
export function restoreOldestState(
  file: StateFile,
  {
    files,
    kv,
    log,
    index,
  }: {
    readonly files: StateFiles;
    readonly kv: Kv;
    readonly log: LogReader;
    readonly index: BlockIndex;
  },
): Applied {
  const { number } = file;
  const { stateRoot, end } = blockOf(file, log);
  const applied = { number, hash: file.hash, end };
  // A process that died after the checkpoint is through with the state.
  if (index.merge.mergedBlocks <= number) {
    loadState({ number, root: stateRoot, parts: files.read(file) }, { kv, directory: files.directory });
    kv.transaction((writer) => index.merge.writeCheckpoint(writer, number + 1));
    index.merge.checkpointWritten(number + 1);
  }
  for (const { payload, position } of log.records()) {
    const record = decodeBlockRecord(payload);
    kv.transaction((writer) => index.blocks.write(writer, record, position));
    index.logs.remember(record);
    while (index.logs.needsMerge()) index.logs.mergeSome();
    if (record.block.header.number === number) break;
  }
  // Last: an index that has a block without the nodes of its state would be brought forward from an empty state.
  kv.transaction((writer) => index.writeOldestState(writer, stateRoot, applied));
  return applied;
}

/** The root of the state in a file, and where the record of its block ends. @throws LogCorruptionError */
function blockOf({ number, hash }: StateFile, log: LogReader): { readonly stateRoot: Hash; readonly end: number } {
  for (const { payload, end } of log.records()) {
    const prefix = decodePrefix(payload);
    if (prefix.number > number || (prefix.number === number && prefix.hash !== hash)) break;
    if (prefix.number === number) return { stateRoot: decodeHeader(payload).stateRoot, end };
  }
  const reason = `no block ${number}, whose state is in a file`;
  throw new LogCorruptionError({ position: log.start, reason });
}

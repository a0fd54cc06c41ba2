import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { decodeMessage, encodeMessage, message, single } from "../../../../src/consensus/cometbft/abci/protobuf.ts";
import { Block } from "../types/block.ts";
import { type Commit, commitForm, fromCommitFields, toCommitFields } from "../types/vote.ts";
import { RecordFile, type RecordPlace } from "./record-file.ts";

/** A decided block, and the precommits by which this node saw that it is decided. */
const blockRecord = message({
  base: single(1, "int64"),
  block: single(2, "bytes"),
  seenCommit: single(3, commitForm),
  height: single(4, "int64"),
});
/** The part of a record that is read at the start. */
const recordHead = message({ base: single(1, "int64"), height: single(4, "int64") });

type StoredBlock = { readonly block: Block; readonly seenCommit: Commit };

/** Blocks in memory: what a peer that is a little behind asks for. */
const RECENT_BLOCKS = 16;

/** The decided blocks of a node, one record each; a record of `base` alone says that blocks before it are removed. */
export class BlockStore {
  readonly #file: RecordFile;
  readonly #places = new Map<number, RecordPlace>();
  readonly #recent = new Map<number, StoredBlock>();
  #base = 0;
  #height = 0;
  /** Bytes of removed blocks in the file. */
  #removedBytes = 0;
  #syncedCommit: Commit | undefined;

  /** @param data the `data` directory of a home */
  constructor(data: string) {
    const directory = join(data, "blockstore.db");
    mkdirSync(directory, { recursive: true });
    this.#file = new RecordFile(join(directory, "000001.log"), (body, place) => {
      const { base, height } = decodeMessage(recordHead, body);
      if (height > 0n) this.#add(Number(height), place);
      else if (base > 0n) this.#drop(Number(base));
      else this.#syncedCommit = fromCommitFields(decodeMessage(blockRecord, body).seenCommit);
    });
  }

  /** Height of the first block; 0 without blocks. */
  get base(): number {
    return this.#base;
  }

  /** Of the last one. */
  get height(): number {
    return this.#height;
  }

  /** Durable when it returns. */
  save(block: Block, seenCommit: Commit): void {
    const body = encodeMessage(blockRecord, {
      block: block.bytes,
      seenCommit: toCommitFields(seenCommit),
      height: BigInt(block.height),
    });
    this.#add(block.height, this.#file.append(body));
    this.#file.sync();
    this.#recent.set(block.height, { block, seenCommit });
    const old = block.height - RECENT_BLOCKS;
    if (old !== this.#base) this.#recent.delete(old);
  }

  /** The precommits for a block whose contents this node never had: state sync begins after it. */
  saveSeenCommit(seenCommit: Commit): void {
    this.#file.append(encodeMessage(blockRecord, { seenCommit: toCommitFields(seenCommit) }));
    this.#file.sync();
    this.#syncedCommit = seenCommit;
  }

  block(height: number): Block | undefined {
    return this.#load(height)?.block;
  }

  seenCommit(height: number): Commit | undefined {
    if (this.#syncedCommit?.height === height) return this.#syncedCommit;
    return this.#load(height)?.seenCommit;
  }

  /** The commit for a block: as the next block has it, or as this node saw it. */
  commit(height: number): Commit | undefined {
    return height < this.#height ? this.block(height + 1)?.lastCommit : this.seenCommit(height);
  }

  /** Removes the blocks before `height`. @returns their number */
  prune(height: number): number {
    const before = this.#places.size;
    this.#file.append(encodeMessage(blockRecord, { base: BigInt(height) }));
    this.#drop(height);
    if (this.#removedBytes > this.#file.size / 2) this.#compact();
    return before - this.#places.size;
  }

  #add(height: number, place: RecordPlace): void {
    if (this.#base === 0) this.#base = height;
    this.#height = height;
    this.#places.set(height, place);
  }

  #drop(before: number): void {
    for (let height = this.#base; height < before; height++) {
      this.#removedBytes += this.#places.get(height)?.bytes ?? 0;
      this.#places.delete(height);
      this.#recent.delete(height);
    }
    this.#base = Math.max(this.#base, before);
  }

  #compact(): void {
    const heights = [...this.#places.keys()];
    const places = this.#file.replace(heights.map((height) => this.#file.read(this.#places.get(height)!)));
    heights.forEach((height, index) => {
      this.#places.set(height, places[index]!);
    });
    this.#removedBytes = 0;
  }

  #load(height: number): StoredBlock | undefined {
    const recent = this.#recent.get(height);
    const place = this.#places.get(height);
    if (recent || place === undefined) return recent;
    const { block, seenCommit } = decodeMessage(blockRecord, this.#file.read(place));
    const stored = { block: Block.decode(block), seenCommit: fromCommitFields(seenCommit) };
    // Each status includes the first block.
    if (height === this.#base) this.#recent.set(height, stored);
    return stored;
  }
}

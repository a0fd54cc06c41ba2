import { concatBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { Kv } from "../../../store/storage/kv.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import { CheckpointBlockMissingError, CheckpointLayoutError, NoCheckpointError } from "../errors.ts";
import { BLOOM_BITS, BloomBits, compressBits } from "./bloom-bits.ts";
import { type Checkpoint, canonicalHashKey, encodeCanonicalBlock, uint64Bytes } from "./checkpoint.ts";
import {
  countSections,
  hasSectionSize,
  openBloomTrie,
  openHashTrie,
  readSection,
  removeSection,
  type SectionRow,
  type StoredTrie,
  writeSection,
  writeSectionSize,
} from "./checkpoint-rows.ts";

export type CheckpointOptions = {
  /** Blocks; a multiple of 8. */
  readonly sectionSize: number;
  /** Blocks from the last one of a section, inclusive, before it is indexed. */
  readonly confirmations: number;
};

/** The header fields that the indexer needs. */
type IndexedHeader = { readonly difficulty: bigint; readonly logsBloom: Uint8Array };

/** The canonical chain that the indexer reads. */
export type CheckpointSource = {
  /** Number of the newest block. */
  head(): number;
  /** undefined: not in the chain, or pruned */
  headerAt(number: number): IndexedHeader | undefined;
  hashAt(number: number): Hash | undefined;
};

/** Block hashes inserted into the trie at once: less than a millisecond once the code is compiled. */
const BLOCKS_PER_STEP = 8;
/** Bits whose vectors of 4,096 bytes are compressed and inserted at once. */
const BITS_PER_STEP = 4;

/**
 * Computes the checkpoints of light clients from the chain: the canonical hash trie and the bloom trie after each section of blocks.
 *
 * It works in steps of a few milliseconds that its owner runs when idle. A killed process restarts its section, which takes two CPU seconds
 * (`npm run bench -- checkpoints`): a repeated step writes the same rows.
 */
export class CheckpointIndexer {
  readonly #options: CheckpointOptions;
  readonly #kv: Kv;
  readonly #source: CheckpointSource;
  readonly #hashes: StoredTrie;
  readonly #blooms: StoredTrie;
  #sections: number;
  /** The steps of the current section. */
  #steps: Iterator<void> | undefined;

  /** @throws CheckpointLayoutError when `kv` holds sections of another size */
  constructor(options: CheckpointOptions, { kv, source }: { readonly kv: Kv; readonly source: CheckpointSource }) {
    this.#options = options;
    this.#kv = kv;
    this.#source = source;
    if (!hasSectionSize(kv, options.sectionSize)) throw new CheckpointLayoutError();
    kv.transaction((writer) => writeSectionSize(writer, options.sectionSize));
    this.#hashes = openHashTrie(kv);
    this.#blooms = openBloomTrie(kv);
    this.#sections = countSections(kv);
    this.#removeForeignSections();
  }

  /** Number of checkpoints. */
  get sections(): number {
    return this.#sections;
  }

  /** Number of sections that are complete and confirmed at the current head. */
  static dueSections({ sectionSize, confirmations }: CheckpointOptions, head: number): number {
    return Math.max(0, Math.floor((head + 1 - confirmations) / sectionSize));
  }

  /** @throws NoCheckpointError */
  checkpoint(index: number): Checkpoint {
    const isKnown = index >= 0 && index < this.#sections;
    const section = isKnown ? readSection(this.#kv, index) : undefined;
    if (section === undefined) throw new NoCheckpointError();
    const { sectionIndex, sectionHead, chtRoot, bloomRoot } = section;
    return { sectionIndex, sectionHead, chtRoot, bloomRoot };
  }

  /** @throws NoCheckpointError */
  latest(): Checkpoint {
    return this.checkpoint(this.#sections - 1);
  }

  /**
   * Nodes that prove the hash of block `number` under the `chtRoot` of section `index`.
   * @throws NoCheckpointError, also if the block is after the section
   */
  proveHash(index: number, number: number): Uint8Array[] {
    const { chtRoot } = this.checkpoint(index);
    if (number >= (index + 1) * this.#options.sectionSize) throw new NoCheckpointError();
    return this.#hashes.trie.prove(hashToBytes(chtRoot), canonicalHashKey(number));
  }

  needsWork(): boolean {
    return this.#sections < CheckpointIndexer.dueSections(this.#options, this.#source.head());
  }

  /** Runs one step of a few milliseconds; returns whether more work remains. */
  step(): boolean {
    if (!this.needsWork()) return false;
    this.#steps ??= this.#indexSection(this.#sections);
    if (this.#steps.next().done) this.#steps = undefined;
    return this.needsWork();
  }

  /** Call it after the chain was rolled back to block `last`. */
  rollback(last: number): void {
    this.#steps = undefined;
    this.#removeSectionsFrom(Math.floor((last + 1) / this.#options.sectionSize));
  }

  /** The chain may have been rolled back or replaced while the indexer was not running. */
  #removeForeignSections(): void {
    const { sectionSize } = this.#options;
    let valid = this.#sections;
    const isForeign = (index: number) => {
      const section = readSection(this.#kv, index);
      return section?.sectionHead !== this.#source.hashAt((index + 1) * sectionSize - 1);
    };
    while (valid > 0 && isForeign(valid - 1)) valid--;
    this.#removeSectionsFrom(valid);
  }

  #removeSectionsFrom(valid: number): void {
    if (this.#sections <= valid) return;
    this.#kv.transaction((writer) => {
      for (let index = valid; index < this.#sections; index++) removeSection(writer, index);
    });
    this.#sections = valid;
  }

  *#indexSection(index: number): Generator<void> {
    const { sectionSize } = this.#options;
    const before = index === 0 ? undefined : readSection(this.#kv, index - 1);
    const bits = new BloomBits(sectionSize);
    let row: Omit<SectionRow, "bloomRoot"> = {
      sectionIndex: index,
      sectionHead: before?.sectionHead ?? ZERO_HASH,
      chtRoot: before?.chtRoot ?? hashFromBytes(EMPTY_TRIE_ROOT_BYTES),
      totalDifficulty: before?.totalDifficulty ?? 0n,
    };
    for (let done = 0; done < sectionSize; done += BLOCKS_PER_STEP) {
      const count = Math.min(BLOCKS_PER_STEP, sectionSize - done);
      row = this.#indexBlocks(row, index * sectionSize + done, count, (offset, bloom) =>
        bits.add(done + offset, bloom),
      );
      yield;
    }
    const bloomRoot = yield* this.#indexBlooms(index, bits, before?.bloomRoot);
    this.#kv.transaction((writer) => writeSection(writer, { ...row, bloomRoot }));
    this.#sections = index + 1;
  }

  /** Inserts `count` blocks from number `first` on into the canonical hash trie. @param before state after the blocks before them */
  #indexBlocks(
    before: Omit<SectionRow, "bloomRoot">,
    first: number,
    count: number,
    addBloom: (offset: number, bloom: Uint8Array) => void,
  ): Omit<SectionRow, "bloomRoot"> {
    let { totalDifficulty, sectionHead } = before;
    const keys: Uint8Array[] = [];
    const values: Uint8Array[] = [];
    for (let offset = 0; offset < count; offset++) {
      const number = first + offset;
      const header = this.#source.headerAt(number);
      const hash = this.#source.hashAt(number);
      if (header === undefined || hash === undefined) throw new CheckpointBlockMissingError(number);
      sectionHead = hash;
      totalDifficulty += header.difficulty;
      keys.push(canonicalHashKey(number));
      values.push(encodeCanonicalBlock({ hash, totalDifficulty }));
      addBloom(offset, header.logsBloom);
    }
    const root = this.#update(this.#hashes, hashToBytes(before.chtRoot), keys, values);
    return { ...before, sectionHead, totalDifficulty, chtRoot: hashFromBytes(root) };
  }

  /** The root of the bloom trie with section `index`. */
  *#indexBlooms(index: number, bits: BloomBits, rootBefore: Hash | undefined): Generator<void, Hash> {
    const section = uint64Bytes(index);
    let root = rootBefore === undefined ? EMPTY_TRIE_ROOT_BYTES : hashToBytes(rootBefore);
    for (let first = 0; first < BLOOM_BITS; first += BITS_PER_STEP) {
      const vectors = [...bits.vectors(first, first + BITS_PER_STEP)];
      if (vectors.length > 0) {
        const keys = vectors.map(([bit]) => concatBytes(Uint8Array.of(bit >> 8, bit & 0xff), section));
        root = this.#update(
          this.#blooms,
          root,
          keys,
          vectors.map(([, vector]) => compressBits(vector)),
        );
      }
      yield;
    }
    return hashFromBytes(root);
  }

  #update(
    { trie, write }: StoredTrie,
    root: Uint8Array,
    keys: readonly Uint8Array[],
    values: readonly Uint8Array[],
  ): Uint8Array {
    const nodes = new NodeBatch();
    const update = trie.update(root, { keys, valueOf: (index) => values[index] }, nodes);
    if (!update.isSame) this.#kv.transaction((writer) => write(writer, nodes));
    return update.root;
  }
}

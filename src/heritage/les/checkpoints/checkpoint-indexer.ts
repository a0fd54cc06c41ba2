import { concatBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { Kv } from "../../../store/storage/kv.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import { CheckpointBlockMissingError, CheckpointLayoutError, NoCheckpointError } from "../errors.ts";
import { BLOOM_BITS, BloomBits, compressBits } from "./bloom-bits.ts";
import { type Checkpoint, canonicalHashKey, encodeCanonicalBlock, uint64Bytes } from "./checkpoint.ts";
import {
  bitKey,
  countSections,
  hasLayout,
  openBloomTrie,
  openHashTrie,
  type Progress,
  readProgress,
  readSection,
  readVectors,
  removeProgress,
  removeSection,
  removeVectors,
  type SectionLayout,
  type SectionRow,
  type StoredTrie,
  writeLayout,
  writeProgress,
  writeSection,
  writeVector,
} from "./checkpoint-rows.ts";

export type CheckpointOptions = SectionLayout & {
  /** Blocks that must follow the last one of a section before it is indexed, itself counted. */
  readonly confirmations: number;
};

/** What the indexer needs of a header. */
type IndexedHeader = { readonly difficulty: bigint; readonly logsBloom: Uint8Array };

/** Where the indexer reads the canonical chain. */
export type CheckpointSource = {
  /** Number of the newest block. */
  head(): number;
  /** undefined: not in the chain, or pruned */
  headerAt(number: number): IndexedHeader | undefined;
  hashAt(number: number): Hash | undefined;
};

/** Blocks whose hashes go into the trie together: less than a millisecond once the code is compiled. */
const BLOCKS_PER_STEP = 8;
/** Bloom vectors of 512 bytes written or removed together. */
const ROWS_PER_STEP = 32;
/** Bits whose vectors of 4,096 bytes are compressed and put into the trie together. */
const BITS_PER_STEP = 4;

/**
 * Computes the checkpoints of light clients from the chain: the canonical hash trie and the bloom trie after each section of blocks.
 *
 * It works in steps of a few milliseconds that its owner runs when nothing else is to be done. What a step wrote is written again to the
 * same place when it is repeated, so a process that is killed continues at the last complete bloom section.
 */
export class CheckpointIndexer {
  readonly #options: CheckpointOptions;
  readonly #kv: Kv;
  readonly #source: CheckpointSource;
  readonly #hashes: StoredTrie;
  readonly #blooms: StoredTrie;
  #sections: number;
  /** The steps of the section under way. */
  #steps: Iterator<void> | undefined;

  /** @throws CheckpointLayoutError when `kv` holds sections of another size */
  constructor(options: CheckpointOptions, { kv, source }: { readonly kv: Kv; readonly source: CheckpointSource }) {
    this.#options = options;
    this.#kv = kv;
    this.#source = source;
    if (!hasLayout(kv, options)) throw new CheckpointLayoutError();
    kv.transaction((writer) => writeLayout(writer, options));
    this.#hashes = openHashTrie(kv);
    this.#blooms = openBloomTrie(kv);
    this.#sections = countSections(kv);
    this.#removeForeignSections();
  }

  /** Number of checkpoints. */
  get sections(): number {
    return this.#sections;
  }

  /** Sections that are complete and confirmed at the present head. */
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
   * @throws NoCheckpointError, also where the block is after the section
   */
  proveHash(index: number, number: number): Uint8Array[] {
    const { chtRoot } = this.checkpoint(index);
    if (number >= (index + 1) * this.#options.sectionSize) throw new NoCheckpointError();
    return this.#hashes.trie.prove(hashToBytes(chtRoot), canonicalHashKey(number));
  }

  needsWork(): boolean {
    return this.#sections < CheckpointIndexer.dueSections(this.#options, this.#source.head());
  }

  /** One step of some milliseconds; true while there is more to do. */
  step(): boolean {
    if (!this.needsWork()) return false;
    this.#steps ??= this.#indexSection(this.#sections);
    if (this.#steps.next().done) this.#steps = undefined;
    return this.needsWork();
  }

  /** To be called after the chain was rolled back to block `last`. */
  rollback(last: number): void {
    this.#steps = undefined;
    const valid = Math.floor((last + 1) / this.#options.sectionSize);
    const progress = readProgress(this.#kv);
    const isProgressGone = progress !== undefined && progress.next > last + 1;
    if (this.#sections <= valid && !isProgressGone) return;
    this.#kv.transaction((writer) => {
      for (let index = valid; index < this.#sections; index++) removeSection(writer, index);
      if (isProgressGone) removeProgress(writer);
    });
    this.#sections = Math.min(this.#sections, valid);
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
    this.#kv.transaction((writer) => {
      for (let index = valid; index < this.#sections; index++) removeSection(writer, index);
    });
    this.#sections = valid;
    const progress = readProgress(this.#kv);
    if (progress !== undefined && this.#source.hashAt(progress.next - 1) !== progress.hash) {
      this.#kv.transaction(removeProgress);
    }
  }

  *#indexSection(index: number): Generator<void> {
    const { sectionSize, bloomSectionSize } = this.#options;
    const end = (index + 1) * sectionSize;
    const before = index === 0 ? undefined : readSection(this.#kv, index - 1);
    let progress = readProgress(this.#kv);
    if (progress === undefined) {
      while (this.#kv.transaction((writer) => removeVectors(writer, ROWS_PER_STEP))) yield;
      progress = startOf(index * sectionSize, before);
    }
    const bits = new BloomBits(bloomSectionSize);
    while (progress.next < end) {
      bits.clear();
      progress = yield* this.#indexBloomSection(progress, bits);
    }
    const bloomRoot = yield* this.#indexBlooms(index, before?.bloomRoot);
    const { hash, chtRoot, totalDifficulty } = progress;
    this.#kv.transaction((writer) => {
      writeSection(writer, {
        sectionIndex: index,
        sectionHead: hash,
        chtRoot,
        bloomRoot,
        totalDifficulty,
      });
    });
    this.#sections = index + 1;
  }

  /** Puts the blocks of one bloom section into the canonical hash trie and writes their bloom vectors. */
  *#indexBloomSection(from: Progress, bits: BloomBits): Generator<void, Progress> {
    const { bloomSectionSize } = this.#options;
    let progress = from;
    for (let done = 0; done < bloomSectionSize; done += BLOCKS_PER_STEP) {
      const count = Math.min(BLOCKS_PER_STEP, bloomSectionSize - done);
      progress = this.#indexBlocks(progress, count, (offset, bloom) => bits.add(done + offset, bloom));
      yield;
    }
    const bloomSection = from.next / bloomSectionSize;
    const vectors = [...bits.vectors()];
    for (let first = 0; first < vectors.length; first += ROWS_PER_STEP) {
      this.#kv.transaction((writer) => {
        for (const [bit, vector] of vectors.slice(first, first + ROWS_PER_STEP)) {
          writeVector(writer, bit, bloomSection, vector);
        }
      });
      yield;
    }
    this.#kv.transaction((writer) => writeProgress(writer, progress));
    return progress;
  }

  #indexBlocks(
    { next: first, hash: parent, totalDifficulty: before, chtRoot }: Progress,
    count: number,
    addBloom: (offset: number, bloom: Uint8Array) => void,
  ): Progress {
    let totalDifficulty = before;
    let hash = parent;
    const keys: Uint8Array[] = [];
    const values: Uint8Array[] = [];
    for (let offset = 0; offset < count; offset++) {
      const number = first + offset;
      const header = this.#source.headerAt(number);
      const found = this.#source.hashAt(number);
      if (header === undefined || found === undefined) throw new CheckpointBlockMissingError(number);
      hash = found;
      totalDifficulty += header.difficulty;
      keys.push(canonicalHashKey(number));
      values.push(encodeCanonicalBlock({ hash, totalDifficulty }));
      addBloom(offset, header.logsBloom);
    }
    const root = this.#update(this.#hashes, hashToBytes(chtRoot), keys, values);
    return { next: first + count, hash, totalDifficulty, chtRoot: hashFromBytes(root) };
  }

  /** The root of the bloom trie with section `index`. */
  *#indexBlooms(index: number, rootBefore: Hash | undefined): Generator<void, Hash> {
    const { sectionSize, bloomSectionSize } = this.#options;
    const firstBloomSection = (index * sectionSize) / bloomSectionSize;
    let root = rootBefore === undefined ? EMPTY_TRIE_ROOT_BYTES : hashToBytes(rootBefore);
    for (let first = 0; first < BLOOM_BITS; first += BITS_PER_STEP) {
      const joined = new Map<number, Uint8Array>();
      for (const [bit, section, vector] of readVectors(this.#kv, first, first + BITS_PER_STEP)) {
        const whole = joined.get(bit) ?? new Uint8Array(sectionSize / 8);
        whole.set(vector, ((section - firstBloomSection) * bloomSectionSize) / 8);
        joined.set(bit, whole);
      }
      if (joined.size > 0) {
        const section = uint64Bytes(index);
        const keys = Array.from(joined.keys(), (bit) => concatBytes(bitKey(bit), section));
        root = this.#update(this.#blooms, root, keys, Array.from(joined.values(), compressBits));
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

/** The state before the first block of a section. */
function startOf(next: number, before: SectionRow | undefined): Progress {
  return {
    next,
    hash: before?.sectionHead ?? ZERO_HASH,
    totalDifficulty: before?.totalDifficulty ?? 0n,
    chtRoot: before?.chtRoot ?? hashFromBytes(EMPTY_TRIE_ROOT_BYTES),
  };
}

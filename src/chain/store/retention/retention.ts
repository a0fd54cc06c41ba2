import type { Kv } from "../../../store/storage/kv.ts";
import type { BlockLog } from "../../../store/storage/log/block-log.ts";
import type { LogDirectory } from "../../../store/storage/log/log-file.ts";
import type { AddressIndex } from "../../addresses/address-index.ts";
import type { BlockIndex } from "../index/block-index.ts";
import type { BlockReader } from "../log/block-reader.ts";
import { Pruner, type PrunerOptions, type PruneTargets, pruneTargets, type Retention } from "./pruner.ts";
import { type StateFile, StateFiles, type StateFileWriter } from "./state-file.ts";
import { statePieces } from "./state-pieces.ts";

/** Pruning begins when it can remove this many blocks: a pass writes some rows once however many blocks it removes. */
const BLOCKS_MIN = 64;
const SLICE_MS = 4;
/**
 * A state file is written when so many times its bytes of the log can go: it takes some 20 µs an account, and with this share 33 µs a
 * transfer. What stays for it is a third of the index.
 */
const LOG_PER_STATE_FILE = 4;

export type RetentionOptions = Retention & PrunerOptions & { readonly blocksMin?: number };

/** What pruning works on. */
export type RetentionModules = {
  readonly directory: LogDirectory;
  readonly log: BlockLog;
  readonly kv: Kv;
  readonly index: BlockIndex;
  readonly blocks: BlockReader;
  readonly addresses: AddressIndex;
  /** Called after the oldest block or state that is served, or the start of the log, has moved. */
  onMoved(): void;
};

/** What a prune would remove. */
export type PrunePlan = PruneTargets & {
  /** Segments of the log that can go. */
  readonly logBytes: number;
};

/**
 * Removes what is older than the retention asks for, a slice at a time: rows of the index first (pruner.ts). When segments of the log could
 * go that are larger than the state, the state after the oldest served block is written to a file (state-file.ts), and then they go: the
 * index can always be made from what is left.
 */
export class RetentionWork {
  readonly #options: RetentionOptions;
  readonly #modules: RetentionModules;
  readonly #pruner: Pruner;
  readonly #files: StateFiles;
  readonly #pinned = new Map<object, number>();
  #stateFile: StateFile | undefined;
  /** Writes the next state file, and removes what it replaces, with pauses. */
  #replacing: Generator<void> | undefined;
  /** Of the file that `#replacing` has not finished. */
  #writer: StateFileWriter | undefined;

  constructor(options: RetentionOptions, modules: RetentionModules) {
    this.#options = options;
    this.#modules = modules;
    this.#pruner = new Pruner(options, modules);
    this.#files = new StateFiles(modules.directory);
    this.#stateFile = this.#files.newest();
    this.#pruner.resume();
    for (const _ of this.#dropLog());
  }

  /** True when `workSome` has something to do. */
  needsWork(head: number): boolean {
    if (this.#pruner.isBusy || this.#replacing !== undefined) return true;
    return this.#isDue(this.targets(head)) || this.#needsStateFile();
  }

  /** What may be removed when `head` is the newest block. */
  targets(head: number): PruneTargets {
    const { index, addresses } = this.#modules;
    const merged = Math.min(
      index.merge.mergedBlocks,
      index.logs.mergedBlocks,
      addresses.isOn ? addresses.indexedBlocks : Number.POSITIVE_INFINITY,
      ...this.#pinned.values(),
    );
    const base = Math.max(index.blocks.firstNumber() ?? 0, index.pruned.blocks.base);
    return pruneTargets(this.#options, { base, head, merged: merged - 1 });
  }

  plan(head: number): PrunePlan {
    const targets = this.targets(head);
    return { ...targets, logBytes: this.#modules.log.bytesBefore(this.#position(targets.blocks)) };
  }

  /** Blocks whose rows are still to be removed in the pass under way. */
  get blocksLeft(): number {
    return this.#pruner.blocksLeft;
  }

  /** Does a part of what is to be done; true while there is more. */
  workSome(head: number): boolean {
    if (this.#replacing !== undefined) {
      if (this.#replacing.next().done) this.#replacing = undefined;
    } else if (this.#pruner.isBusy) this.#pruner.pruneSome();
    else if (this.#isDue(this.targets(head))) {
      this.#pruner.begin(this.targets(head));
      this.#modules.onMoved();
    } else if (this.#needsStateFile()) this.#replacing = this.#replaceStateFile();
    return this.needsWork(head);
  }

  /** Removes what is left of a pass that was begun, also by an earlier process. */
  finishPass(): void {
    while (this.#pruner.isBusy) this.#pruner.pruneSome();
  }

  /** States from block `number` on stay until the returned function is called. */
  pin(number: number): () => void {
    const pin = {};
    this.#pinned.set(pin, number + 1);
    return () => void this.#pinned.delete(pin);
  }

  /** Leaves an unfinished state file, which the next one replaces. */
  close(): void {
    this.#writer?.abandon();
    this.#writer = undefined;
    this.#replacing = undefined;
  }

  #isDue(targets: PruneTargets): boolean {
    const { pruned } = this.#modules.index;
    const { blocksMin = BLOCKS_MIN } = this.#options;
    return (["blocks", "states", "proofs"] as const).some(
      (kind) => this.#isLimited(kind) && targets[kind] >= pruned[kind].base + blocksMin,
    );
  }

  /** States go with blocks, proofs with states. */
  #isLimited(kind: keyof Retention): boolean {
    const { blocks, states, proofs } = this.#options;
    if (kind === "blocks") return blocks !== undefined;
    return (blocks ?? states ?? (kind === "proofs" ? proofs : undefined)) !== undefined;
  }

  /** Only where the log shrinks by it. */
  #needsStateFile(): boolean {
    const { index, log } = this.#modules;
    if (index.pruned.blocks.base === 0) return false;
    const bytes = log.bytesBefore(this.#position(index.pruned.blocks.base));
    return bytes > LOG_PER_STATE_FILE * (this.#stateFile?.bytes ?? 0);
  }

  *#replaceStateFile(): Generator<void> {
    const { sliceMs = SLICE_MS } = this.#options;
    const { kv, index, blocks } = this.#modules;
    const { accounts, slots, pruned } = index;
    // A rebuilt index has proofs from this state on.
    const number = Math.max(pruned.states.base, pruned.proofs.base);
    const pieces = statePieces({ kv, accounts, slots }, number, blocks.header(number).stateRoot);
    const writer = this.#files.create(number, blocks.hash(number), (code) => index.knownCode(code));
    this.#writer = writer;
    let end = performance.now() + sliceMs;
    for (const piece of pieces) {
      if (piece !== undefined) writer.add(piece);
      if (!writer.needsSync && performance.now() < end) continue;
      yield;
      if (writer.needsSync) {
        writer.sync();
        yield;
      }
      end = performance.now() + sliceMs;
    }
    yield;
    writer.sync();
    yield;
    this.#stateFile = writer.finish();
    this.#writer = undefined;
    yield;
    yield* this.#dropLog();
  }

  /** Removes segments that nothing needs any more: the state file has the state, and no row refers to them. */
  *#dropLog(): Generator<void> {
    const { index, log, onMoved } = this.#modules;
    const file = this.#stateFile;
    if (file === undefined || this.#pruner.isBusy) return;
    while (log.dropSegmentBefore(this.#position(Math.min(index.pruned.blocks.base, file.number)))) {
      onMoved();
      yield;
    }
    yield* this.#files.removeOld();
    onMoved();
  }

  #position(number: number): number {
    return this.#modules.index.blocks.position(number) ?? 0;
  }
}

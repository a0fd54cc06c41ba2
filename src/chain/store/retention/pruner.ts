import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { keccak256 } from "../../../primitives/keccak.ts";
import type { Kv, KvWriter } from "../../../storage/kv.ts";
import type { LogReader } from "../../../storage/log-reader.ts";
import type { AddressIndex } from "../../addresses/address-index.ts";
import { decodeBlockRecord, decodeChangeRows } from "../../records/block-record.ts";
import type { BlockReader } from "../block-reader.ts";
import type { BlockIndex } from "../index/block-index.ts";
import type { PrunedKind } from "./pruned-range.ts";

/** How many of the newest blocks are retained of each kind; undefined: all. */
export type Retention = {
  /** Blocks with their receipts and logs. */
  readonly blocks?: number | undefined;
  /** States that can be read; at most those of the blocks. */
  readonly states?: number | undefined;
  /** States that can be proven; at most those that can be read. */
  readonly proofs?: number | undefined;
};

/** The oldest block that is to be served of each kind. */
export type PruneTargets = Readonly<Record<PrunedKind, number>>;

/** Half of the longest pause a node may have: the commit of the transaction comes on top. */
const SLICE_MS = 8;

const KINDS = ["states", "proofs", "blocks"] as const;

/** One write of a transaction. */
type Step = (writer: KvWriter) => void;

/**
 * @param chain.base the oldest block there is
 * @param chain.merged the newest block of which nothing waits for a merge
 */
export function pruneTargets(
  { blocks, states, proofs }: Retention,
  { base, head, merged }: { readonly base: number; readonly head: number; readonly merged: number },
): PruneTargets {
  const oldest = (retained: number | undefined, least: number) =>
    retained === undefined ? least : Math.max(least, Math.min(merged, head - retained + 1));
  const firstBlock = oldest(blocks, base);
  const firstState = oldest(states, firstBlock);
  return { blocks: firstBlock, states: firstState, proofs: oldest(proofs, firstState) };
}

/**
 * Removes the rows of old blocks, states and trie nodes from the index, a slice at a time. Every step can be done again, so a stop in the
 * middle costs the steps of one block.
 */
export class Pruner {
  readonly #kv: Kv;
  readonly #log: LogReader;
  readonly #index: BlockIndex;
  readonly #blocks: Pick<BlockReader, "header">;
  readonly #addresses: Pick<AddressIndex, "prune">;
  readonly #sliceMs: number;
  #steps: Generator<Step> | undefined;

  constructor(
    { sliceMs = SLICE_MS }: { readonly sliceMs?: number | undefined },
    modules: {
      readonly kv: Kv;
      readonly log: LogReader;
      readonly index: BlockIndex;
      readonly blocks: Pick<BlockReader, "header">;
      readonly addresses: Pick<AddressIndex, "prune">;
    },
  ) {
    this.#kv = modules.kv;
    this.#log = modules.log;
    this.#index = modules.index;
    this.#blocks = modules.blocks;
    this.#addresses = modules.addresses;
    this.#sliceMs = sliceMs;
  }

  /** True when `pruneSome` has something to do. */
  get isBusy(): boolean {
    return this.#steps !== undefined;
  }

  /** Continues what an earlier process began. */
  resume(): void {
    const { pruned } = this.#index;
    if (KINDS.some((kind) => pruned[kind].next < this.#endOf(kind))) this.#steps = this.#all();
  }

  /** Blocks, over all kinds, whose rows are still to be removed. */
  get blocksLeft(): number {
    const { pruned } = this.#index;
    return KINDS.reduce((sum, kind) => sum + Math.max(0, this.#endOf(kind) - pruned[kind].next), 0);
  }

  /** Nothing older than `targets` is served from here on, and its rows will be removed. Only when not busy. */
  begin(targets: PruneTargets): void {
    const moved = KINDS.filter((kind) => targets[kind] > this.#index.pruned[kind].base);
    this.#kv.transaction((writer) => {
      for (const kind of moved) {
        const range = this.#index.pruned[kind];
        range.write(writer, targets[kind], range.next);
      }
    }, true);
    this.#index.applyPrunedRanges();
    this.#steps = this.#all();
  }

  /** Removes rows for some milliseconds; true while there is more to do. */
  pruneSome(): boolean {
    const steps = this.#steps;
    if (steps === undefined) return false;
    const end = performance.now() + this.#sliceMs;
    const taken: Step[] = [];
    this.#kv.transaction((writer) => {
      // There are some where the store could not commit the first time.
      for (const step of taken) step(writer);
      do {
        const next = steps.next();
        if (next.done) {
          this.#steps = undefined;
          return;
        }
        taken.push(next.value);
        next.value(writer);
      } while (performance.now() < end);
    }, true);
    return this.isBusy;
  }

  /** The state after the base is served: changes up to it are in the oldest values. Blocks are served from the base on. */
  #endOf(kind: PrunedKind): number {
    const { base } = this.#index.pruned[kind];
    return kind === "blocks" || base === 0 ? base : base + 1;
  }

  *#all(): Generator<Step> {
    for (const kind of KINDS) {
      const range = this.#index.pruned[kind];
      const end = this.#endOf(kind);
      if (range.next >= end) continue;
      let number = Math.max(range.next, this.#index.firstNumber() ?? 0);
      for (const { payload } of this.#log.records(this.#index.knownPosition(number))) {
        if (number >= end) break;
        yield* this.#stepsOf(kind, number, payload);
        const next = ++number;
        yield (writer) => range.write(writer, range.base, next);
      }
    }
  }

  *#stepsOf(kind: PrunedKind, number: number, payload: Buffer): Generator<Step> {
    if (kind === "blocks") yield* this.#blockSteps(number, payload);
    else if (kind === "states") yield* this.#stateSteps(number, payload);
    else yield* this.#proofSteps(payload);
  }

  *#blockSteps(number: number, payload: Buffer): Generator<Step> {
    const record = decodeBlockRecord(payload);
    for (const { hash } of record.block.transactions) {
      yield (writer) => this.#index.removeTransaction(writer, hash, number);
    }
    yield* this.#index.logs.pruneSteps(record, this.#index.pruned.blocks.base);
    yield* this.#addresses.prune(record);
    yield (writer) => this.#index.removeBlock(writer, record.block.hash, number);
  }

  *#stateSteps(number: number, payload: Buffer): Generator<Step> {
    const { accounts, slots } = decodeChangeRows(payload);
    for (const { key } of accounts) yield (writer) => this.#index.accounts.prune(writer, key);
    for (const { key } of slots) yield (writer) => this.#index.slots.prune(writer, key);
    if (number === 0 || this.#index.position(number - 1) === undefined) return;
    const old = this.#blocks.header(number - 1).stateRoot;
    const isSame = this.#blocks.header(number).stateRoot === old;
    yield (writer) =>
      this.#index.moveStateRoot(writer, old, number - 1, isSame ? number : undefined);
  }

  *#proofSteps(payload: Buffer): Generator<Step> {
    const { nodeHistory, pruned } = this.#index;
    const last = pruned.proofs.base;
    const places = new Map<string, readonly [owner: Uint8Array, key: Uint8Array]>();
    const add = (owner: Uint8Array, key: Uint8Array) =>
      places.set(`${Buffer.from(owner).toString("latin1")} ${key[0]}`, [owner, key]);
    const { accounts, slots } = decodeChangeRows(payload);
    for (const { key } of accounts) add(EMPTY_BYTES, keccak256(key));
    for (const { key } of slots) {
      const owner = keccak256(key.subarray(0, 20));
      add(EMPTY_BYTES, owner);
      add(owner, keccak256(key.subarray(20)));
    }
    for (const [owner, key] of places.values()) {
      yield (writer) => nodeHistory.prune(writer, owner, key, last);
    }
  }
}

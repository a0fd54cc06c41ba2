import { NodeError } from "../../base/errors.ts";
import { type Address, addressToBytes } from "../../base/primitives/address.ts";
import { ByteReader, ByteWriter } from "../../store/storage/byte-io.ts";
import type { Kv, KvWriter } from "../../store/storage/kv.ts";
import { META, NUMBER_MAX, numberFromKey, numberKey, TABLE, tableKey } from "../../store/storage/schema.ts";
import {
  type AddressEntry,
  type AddressParts,
  addressEntries,
  addressPartsOf,
  type IndexedAddresses,
} from "../records/block-addresses.ts";

/** What the index says of an address in one block; never empty. */
export type AddressBlock = {
  readonly number: number;
  /** Ascending. */
  readonly entries: readonly Pick<AddressEntry, "index" | "roles">[];
};

/** Blocks `from` to `to`, read from the newest or from the oldest, until there are `transactionsMin` entries; a block is whole. */
export type AddressQuery = {
  readonly address: Address;
  readonly from: number;
  readonly to: number;
  readonly order: "newestFirst" | "oldestFirst";
  readonly transactionsMin: number;
};

export type AccountPage = {
  /** In the order of the query. */
  readonly blocks: readonly AddressBlock[];
  /** There are blocks after the last one. */
  readonly isMore: boolean;
};

/** Both from genesis. */
export type AddressIndexProgress = { readonly indexedBlocks: number; readonly blocks: number };

/** Where the index reads. */
export type AddressIndexSource = {
  /** Number of the newest indexed block; undefined before the first. */
  head(): number | undefined;
  /** Number of the first block. */
  base(): number;
  block(number: number): IndexedAddresses;
  /** The same, decoded as it is read. */
  parts(number: number): AddressParts;
};

export type AddressIndexLimits = {
  /** Rows written in one transaction, during which nothing else runs; a block with more is written in several. */
  readonly rowsMax: number;
  /** Milliseconds of reading blocks before it; a large block is read in several slices. */
  readonly sliceMs: number;
  /** Blocks after the last indexed one that a search reads itself. */
  readonly unindexedBlocksMax: number;
};

/** 2,000 rows take some 5 ms. A search reads 64 blocks of the decoded ones in less than one. */
const LIMITS: AddressIndexLimits = { rowsMax: 2_000, sliceMs: 5, unindexedBlocksMax: 64 };

const KEY_LENGTH = 1 + 20 + 6 + 4;
const NUMBER_OFFSET = 21;
const INDEX_OFFSET = 27;

/**
 * Which transactions have to do with an address.
 *
 *     address ‖ block number ‖ index → roles
 *
 * It is built from the blocks in slices while the node is idle, so no commit waits for it. A separate row records the last block that it
 * covers. Each slice updates this row in its own transaction, so an interrupted build loses nothing.
 */
export class AddressIndex {
  readonly #kv: Kv;
  readonly #source: AddressIndexSource;
  readonly #limits: AddressIndexLimits;
  readonly isOn: boolean;
  #indexedBlocks: number;
  /** Entries of block `indexedBlocks` that are not written yet, those before them are; undefined: none is. */
  #rest: Iterator<AddressEntry> | undefined;
  #failure: { readonly cause: unknown } | undefined;

  constructor(
    isOn: boolean,
    { kv, source }: { readonly kv: Kv; readonly source: AddressIndexSource },
    limits: AddressIndexLimits = LIMITS,
  ) {
    this.isOn = isOn;
    this.#kv = kv;
    this.#source = source;
    this.#limits = limits;
    this.#indexedBlocks = readProgress(kv);
  }

  /** After the store went back to an earlier state. */
  reload(): void {
    this.#indexedBlocks = readProgress(this.#kv);
    this.#rest = undefined;
  }

  /** Blocks from genesis whose rows are all there. */
  get indexedBlocks(): number {
    return this.#indexedBlocks;
  }

  progress(): AddressIndexProgress {
    return { indexedBlocks: this.#indexedBlocks, blocks: (this.#source.head() ?? -1) + 1 };
  }

  /** Blocks that are not indexed and will be. */
  get waitingBlocks(): number {
    if (!this.isOn || this.#failure !== undefined) return 0;
    const { indexedBlocks, blocks } = this.progress();
    return blocks - indexedBlocks;
  }

  /** True when `indexSome` has something to do. */
  needsWork(): boolean {
    return this.waitingBlocks > 0;
  }

  /** Building failed: searches throw, and nothing is built until the store is opened again. */
  fail(cause: unknown): void {
    this.#failure = { cause };
  }

  /** Writes the rows of the next blocks, or some rows of a large one; true while there is more to do. */
  indexSome(): boolean {
    const { indexedBlocks, blocks } = this.progress();
    const { rowsMax, sliceMs } = this.#limits;
    const deadline = performance.now() + sliceMs;
    let next = Math.max(indexedBlocks, this.#source.base());
    const rows: Row[] = [];
    let rest = this.#rest;
    do {
      rest ??= addressEntries(this.#source.parts(next));
      const entry = rest.next();
      if (entry.done) {
        rest = undefined;
        next++;
      } else rows.push(rowOf(next, entry.value));
    } while (next < blocks && rows.length < rowsMax && performance.now() < deadline);
    const { buffer } = this.#kv;
    // A B-tree takes sorted rows several times faster than random ones; a buffer sorts what it writes.
    if (buffer === undefined) rows.sort((a, b) => Buffer.compare(a.key, b.key));
    (buffer ?? this.#kv).transaction((writer) => {
      for (const { key, roles } of rows) writer.put(key, Uint8Array.of(roles));
      writeProgress(writer, next);
    });
    this.#indexedBlocks = next;
    this.#rest = rest;
    return this.needsWork();
  }

  /** Makes block `last` the newest; `removed` are all after it. To be called before the blocks go, so that a crash leaves no row behind. */
  rollback(last: number, removed: readonly IndexedAddresses[]): void {
    const blocks = last + 1;
    // Of the block after the indexed ones some rows may be written, by this process or by one that was killed.
    if (this.#indexedBlocks < blocks) return;
    this.#kv.transaction((writer) => {
      for (const block of removed) {
        const { number } = block.block.header;
        if (number > this.#indexedBlocks) break;
        for (const { address, index } of addressEntries(addressPartsOf(block))) {
          writer.remove(rowKey(address, number, index));
        }
      }
      writeProgress(writer, blocks);
    });
    this.#indexedBlocks = blocks;
    this.#rest = undefined;
  }

  /** The steps that remove the rows of block `number`. @param parts asked for where there are rows */
  *prune(number: number, parts: () => AddressParts): Generator<(writer: KvWriter) => void> {
    if (number > this.#indexedBlocks || this.#indexedBlocks === 0) return;
    for (const entry of addressEntries(parts())) {
      const { key } = rowOf(number, entry);
      yield (writer) => writer.remove(key);
    }
  }

  /** @throws AddressIndexOffError, AddressIndexBuildingError, AddressIndexFailedError */
  search({ address, from, to, order, transactionsMin }: AddressQuery): AccountPage {
    if (!this.isOn) throw new AddressIndexOffError();
    if (this.#failure) throw new AddressIndexFailedError(this.#failure);
    const { indexedBlocks, blocks } = this.progress();
    if (blocks - indexedBlocks > this.#limits.unindexedBlocksMax) {
      throw new AddressIndexBuildingError({ indexedBlocks, blocks });
    }
    const range = { address, from, to: Math.min(to, blocks - 1) };
    const found: AddressBlock[] = [];
    let count = 0;
    const all = order === "newestFirst" ? this.#descending(range) : this.#ascending(range);
    for (const block of all) {
      if (count >= transactionsMin) return { blocks: found, isMore: true };
      found.push(block);
      count += block.entries.length;
    }
    return { blocks: found, isMore: false };
  }

  /** The rows of the block that are there, for checking the store: all of an indexed block, any of the one after them. */
  storedRowsOf(block: IndexedAddresses): { readonly isWhole: boolean; readonly rows: number } {
    const rows = rowsOf(block);
    const stored = rows.filter(({ key, roles }) => this.#kv.get(key)?.[0] === roles).length;
    return { isWhole: stored === rows.length, rows: stored };
  }

  *#descending(range: RangeOfAddress): Generator<AddressBlock> {
    const { address, from, to } = range;
    for (let number = to; number >= Math.max(from, this.#indexedBlocks); number--) {
      yield* this.#unindexed(address, number);
    }
    yield* this.#indexed(range, true);
  }

  *#ascending(range: RangeOfAddress): Generator<AddressBlock> {
    const { address, from, to } = range;
    yield* this.#indexed(range, false);
    for (let number = Math.max(from, this.#indexedBlocks); number <= to; number++) {
      yield* this.#unindexed(address, number);
    }
  }

  *#unindexed(address: Address, number: number): Generator<AddressBlock> {
    const all = addressEntries(addressPartsOf(this.#source.block(number)));
    const entries = Array.from(all).filter((entry) => entry.address === address);
    if (entries.length > 0) yield { number, entries };
  }

  *#indexed({ address, from, to }: RangeOfAddress, reverse: boolean): Generator<AddressBlock> {
    const end = Math.min(to, this.#indexedBlocks - 1);
    if (end < from) return;
    const rows = this.#kv.range({
      from: rowKey(address, from, 0),
      to: rowKey(address, Math.min(end + 1, NUMBER_MAX), 0),
      reverse,
    });
    let number = -1;
    let entries: { readonly index: number; readonly roles: number }[] = [];
    const whole = () => ({ number, entries: reverse ? entries.reverse() : entries });
    for (const [key, value] of rows) {
      const next = numberFromKey(key, NUMBER_OFFSET);
      if (next !== number && entries.length > 0) {
        yield whole();
        entries = [];
      }
      number = next;
      const index = Buffer.from(key.buffer, key.byteOffset, KEY_LENGTH).readUInt32BE(INDEX_OFFSET);
      entries.push({ index, roles: value[0]! });
    }
    if (entries.length > 0) yield whole();
  }
}

type Row = { readonly key: Uint8Array; readonly roles: number };

function rowsOf(block: IndexedAddresses): Row[] {
  const { number } = block.block.header;
  return Array.from(addressEntries(addressPartsOf(block)), (entry) => rowOf(number, entry));
}

function rowOf(number: number, { address, index, roles }: AddressEntry): Row {
  return { key: rowKey(address, number, index), roles };
}

type RangeOfAddress = Pick<AddressQuery, "address" | "from" | "to">;

const PROGRESS_KEY = tableKey(TABLE.meta, Buffer.from(META.addressIndexedBlocks, "latin1"));

function readProgress(kv: Kv): number {
  const progress = kv.get(PROGRESS_KEY);
  return progress === undefined ? 0 : new ByteReader(progress).varint();
}

function writeProgress(writer: KvWriter, blocks: number): void {
  const row = new ByteWriter(8);
  row.varint(blocks);
  writer.put(PROGRESS_KEY, row.finish());
}

function rowKey(address: Address, number: number, index: number): Uint8Array {
  const indexBytes = Uint8Array.of(index >>> 24, index >>> 16, index >>> 8, index);
  return tableKey(TABLE.addressTransaction, addressToBytes(address), numberKey(number), indexBytes);
}

/** Searches by address need an index, which is disabled on this node. */
export class AddressIndexOffError extends NodeError {
  readonly code = "ADDRESS_INDEX_OFF";
  constructor() {
    super("the address index is disabled: set index.addresses = true");
  }
}

/** The index of addresses is not complete yet. */
class AddressIndexBuildingError extends NodeError {
  readonly code = "ADDRESS_INDEX_BUILDING";
  constructor(details: { readonly indexedBlocks: number; readonly blocks: number }) {
    const { indexedBlocks, blocks } = details;
    super(`the address index is being built: ${indexedBlocks} of ${blocks} blocks`, details);
  }
}

/** Building the index failed; the log of the node says why. */
class AddressIndexFailedError extends NodeError {
  readonly code = "STORE_ADDRESS_INDEX";
  constructor(options: { readonly cause: unknown }) {
    super("could not build the address index", {}, options);
  }
}

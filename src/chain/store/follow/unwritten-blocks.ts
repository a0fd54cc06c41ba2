import { type Hash, hashFromBytes } from "../../../base/primitives/hash.ts";
import type { LogReader } from "../../../store/storage/log/log-reader.ts";
import type { ChangeRows } from "../../records/changes-record.ts";
import { decodeHashesAndLogs } from "../../records/indexed-block.ts";
import type { TransactionPlace, UnwrittenRows } from "../index/block-rows.ts";

export type UnwrittenBlock = {
  readonly number: number;
  readonly hash: Hash;
  /** Of its record in the log. */
  readonly position: number;
  readonly codes: ChangeRows["codes"];
};

/** What was decoded of a block when a transaction or a state root was looked for. */
type Decoded = { readonly stateRoot: Hash; readonly transactions: readonly { readonly hash: Hash }[] };

type Entry = UnwrittenBlock & { readonly codeHashes: readonly Hash[]; decoded: Decoded | undefined };

/**
 * The newest blocks of a store that another thread or process writes. The writer still holds their rows in memory (`BufferedKv`), so a
 * follower rebuilds these rows from the block log. Transaction hashes cost more than the rest, so they are computed at the first lookup.
 */
export class UnwrittenBlocks implements UnwrittenRows {
  readonly #log: LogReader;
  /** By number, ascending. */
  readonly #blocks = new Map<number, Entry>();
  readonly #numbers = new Map<Hash, number>();
  readonly #codes = new Map<Hash, Uint8Array>();
  /** Of the blocks that are decoded. */
  readonly #transactions = new Map<Hash, TransactionPlace>();
  /** The newest blocks, not decoded yet. */
  #undecoded: Entry[] = [];

  constructor(log: LogReader) {
    this.#log = log;
  }

  /** Takes the next block. */
  add(block: UnwrittenBlock): void {
    const codeHashes = block.codes.map(({ hash }) => hashFromBytes(hash));
    const entry: Entry = { ...block, codeHashes, decoded: undefined };
    this.#blocks.set(block.number, entry);
    this.#numbers.set(block.hash, block.number);
    for (const [i, { code }] of block.codes.entries()) this.#codes.set(codeHashes[i]!, code);
    this.#undecoded.push(entry);
  }

  /** The rows of the blocks up to `number` are written. */
  forgetUpTo(number: number): void {
    for (const [oldest, { hash, codeHashes, decoded }] of this.#blocks) {
      if (oldest > number) break;
      this.#blocks.delete(oldest);
      this.#numbers.delete(hash);
      for (const codeHash of codeHashes) this.#codes.delete(codeHash);
      for (const transaction of decoded?.transactions ?? []) this.#transactions.delete(transaction.hash);
    }
    if (this.#undecoded.length > 0 && this.#undecoded[0]!.number <= number) {
      this.#undecoded = this.#undecoded.filter((block) => block.number > number);
    }
  }

  position(number: number): number | undefined {
    return this.#blocks.get(number)?.position;
  }

  numberOf(blockHash: Hash): number | undefined {
    return this.#numbers.get(blockHash);
  }

  numberOfState(stateRoot: Hash): number | undefined {
    this.#decode();
    for (const [number, { decoded }] of this.#blocks) if (decoded?.stateRoot === stateRoot) return number;
    return undefined;
  }

  transaction(hash: Hash): TransactionPlace | undefined {
    this.#decode();
    return this.#transactions.get(hash);
  }

  code(codeHash: Hash): Uint8Array | undefined {
    return this.#codes.get(codeHash);
  }

  #decode(): void {
    for (const block of this.#undecoded) {
      const { header, transactions } = decodeHashesAndLogs(this.#log.record(block.position).payload).block;
      block.decoded = { stateRoot: header.stateRoot, transactions };
      for (const [index, { hash }] of transactions.entries()) {
        this.#transactions.set(hash, { number: block.number, index });
      }
    }
    this.#undecoded = [];
  }
}

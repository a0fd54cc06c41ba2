import { isJsonObject } from "../../base/primitives/shape.ts";
import type { LogDirectory } from "../../store/storage/log/log-file.ts";

/** Beside the segments of the log; a reader of the log passes it over. */
const FILE = "range";
const BYTES_MAX = 256;

/** The last block before a range that is stored whole or not at all, and the end of its record. */
export type RangeStart = { readonly number: number; readonly hash: string; readonly end: number };

/**
 * Marks a range of blocks that is being appended. While the mark exists, no block after it is acknowledged: a start removes all that
 * reached the disk. So the range needs no sync for each block.
 */
export class BlockRangeMark {
  readonly #directory: LogDirectory;
  #isSet = false;

  constructor(directory: LogDirectory) {
    this.#directory = directory;
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  /** What an earlier process left. A mark that was not written whole was never set. */
  read(): RangeStart | undefined {
    if (!this.#directory.list().includes(FILE)) return undefined;
    this.#isSet = true;
    const file = this.#directory.open(FILE);
    try {
      const bytes = new Uint8Array(BYTES_MAX);
      const value: unknown = JSON.parse(Buffer.from(bytes.subarray(0, file.read(bytes, 0))).toString());
      if (!isJsonObject(value)) return undefined;
      const { number, hash, end } = value;
      const isWhole = Number.isSafeInteger(number) && Number.isSafeInteger(end) && typeof hash === "string";
      return isWhole ? { number: number as number, hash, end: end as number } : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    } finally {
      file.close();
    }
  }

  /** Returns when the mark is on disk. */
  set(start: RangeStart): void {
    const file = this.#directory.open(FILE);
    this.#isSet = true;
    try {
      file.truncate(0);
      file.write(Buffer.from(JSON.stringify(start)), 0);
      file.sync();
    } finally {
      file.close();
    }
    this.#directory.sync();
  }

  /** Returns when the range is there to stay. Its blocks must be on disk. */
  clear(): void {
    if (!this.#isSet) return;
    this.#directory.remove(FILE);
    this.#directory.sync();
    this.#isSet = false;
  }
}

/** A store that other threads of this process can follow. */
export type FollowedStore = {
  readonly directory: string;
  /** `PublishedHead.buffer` of the store. */
  readonly head: SharedArrayBuffer;
};

/** How far a store has come, for readers in other threads. */
export type HeadPosition = {
  /** Counts rollbacks: what was read before one may be of blocks that are gone. */
  readonly epoch: number;
  /** Of the newest block; −1 while the store is empty. */
  readonly number: number;
  /** Log position after its record. */
  readonly end: number;
  /** Blocks from block 0 whose changes are all in rows. */
  readonly mergedBlocks: number;
};

/** Index of each value in the shared array; `version` is odd while the writer changes the others. */
const VERSION = 0;
const EPOCH = 1;
const NUMBER = 2;
const END = 3;
const MERGED = 4;
const LENGTH = 5;

/**
 * A `HeadPosition` in shared memory: the thread that writes the store publishes, any thread reads. A thread that got a message from
 * the writer reads at least what was published before it was sent.
 */
export class PublishedHead {
  readonly buffer: SharedArrayBuffer;
  readonly #values: BigInt64Array;

  /** @param buffer of the writer's */
  constructor(buffer = new SharedArrayBuffer(LENGTH * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#values = new BigInt64Array(buffer);
  }

  publish({ epoch, number, end, mergedBlocks }: HeadPosition): void {
    const values = this.#values;
    Atomics.add(values, VERSION, 1n);
    Atomics.store(values, EPOCH, BigInt(epoch));
    Atomics.store(values, NUMBER, BigInt(number));
    Atomics.store(values, END, BigInt(end));
    Atomics.store(values, MERGED, BigInt(mergedBlocks));
    Atomics.add(values, VERSION, 1n);
  }

  read(): HeadPosition {
    const values = this.#values;
    for (;;) {
      const version = Atomics.load(values, VERSION);
      const head = {
        epoch: Number(Atomics.load(values, EPOCH)),
        number: Number(Atomics.load(values, NUMBER)),
        end: Number(Atomics.load(values, END)),
        mergedBlocks: Number(Atomics.load(values, MERGED)),
      };
      if (version % 2n === 0n && Atomics.load(values, VERSION) === version) return head;
    }
  }
}

import type { System } from "../world.ts";

export type Chunk = { readonly index: number; readonly bytes: Uint8Array; readonly sender: string };

/** No chunk has arrived for so long: the snapshot is given up (statesync/chunks.go). */
const CHUNK_MS = 120_000;

type ChunkQueueOptions = {
  readonly count: number;
  /** Maximum number of chunks requested at once. */
  readonly fetchers: number;
  /** A chunk is requested again after this many milliseconds. */
  readonly retryMs: number;
  readonly request: (index: number) => void;
};

/** The chunks of one snapshot: fetched beside each other, given out in order. */
export class ChunkQueue {
  readonly #options: ChunkQueueOptions;
  readonly #system: System;
  readonly #chunks = new Map<number, Chunk>();
  /** Chunks that the application has. */
  readonly #applied = new Set<number>();
  /** Chunks that are awaited, with what cancels asking again. */
  readonly #requested = new Map<number, () => void>();
  #wake: () => void = () => {};

  constructor(options: ChunkQueueOptions, system: System) {
    this.#options = options;
    this.#system = system;
  }

  add(chunk: Chunk): void {
    if (chunk.index >= this.#options.count || this.#chunks.has(chunk.index)) return;
    this.#requested.get(chunk.index)?.();
    this.#requested.delete(chunk.index);
    this.#chunks.set(chunk.index, chunk);
    this.fetch();
    this.#wake();
  }

  /** Asks for what is not there. */
  fetch(): void {
    const { count, fetchers } = this.#options;
    for (let index = 0; index < count && this.#requested.size < fetchers; index++) {
      if (!this.#chunks.has(index) && !this.#requested.has(index)) this.#request(index);
    }
  }

  /** The next chunk, once it is there; "done" after the last, "timeout" where it does not come. */
  async next(): Promise<Chunk | "done" | "timeout"> {
    let isLate = false;
    for (;;) {
      let index = 0;
      while (this.#applied.has(index)) index++;
      if (index >= this.#options.count) return "done";
      const chunk = this.#chunks.get(index);
      if (chunk) {
        this.#applied.add(index);
        return chunk;
      }
      if (isLate) return "timeout";
      await new Promise<void>((resolve) => {
        const cancel = this.#system.after(CHUNK_MS, () => {
          isLate = true;
          resolve();
        });
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
    }
  }

  /** The application wants this one once more. */
  retry(index: number): void {
    this.#applied.delete(index);
  }

  retryAll(): void {
    this.#applied.clear();
  }

  /** The bytes are bad: they are fetched once more. */
  discard(index: number): void {
    this.#chunks.delete(index);
    this.#applied.delete(index);
    this.fetch();
  }

  /** Chunks of this peer that the application does not have. */
  discardSender(sender: string): void {
    for (const chunk of this.#chunks.values()) {
      if (chunk.sender === sender && !this.#applied.has(chunk.index)) this.#chunks.delete(chunk.index);
    }
    this.fetch();
  }

  close(): void {
    for (const cancel of this.#requested.values()) cancel();
    this.#requested.clear();
  }

  #request(index: number): void {
    const { request, retryMs } = this.#options;
    request(index);
    this.#requested.set(
      index,
      this.#system.after(retryMs, () => this.#request(index)),
    );
  }
}

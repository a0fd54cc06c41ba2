import { crc32 } from "node:zlib";

export type TraceLine = { readonly time: number; readonly source: string; readonly text: string };

/** The newest lines explain a failure. */
const LINES_MAX = 200_000;

/** All events, as a hash, which two runs of one seed must share, and as text on request. */
export class Trace {
  readonly #lines: TraceLine[] = [];
  readonly #keepsLines: boolean;
  readonly #event = Buffer.alloc(12);
  #hash = 0;
  #other = 1;

  constructor(keepsLines: boolean) {
    this.#keepsLines = keepsLines;
  }

  get lines(): readonly TraceLine[] {
    return this.#lines;
  }

  /** 64 bits of what happened so far. */
  get hash(): string {
    return [this.#hash, this.#other].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /** The process of number `owner` runs. */
  event(time: number, owner: number): void {
    this.#event.writeDoubleLE(time);
    this.#event.writeUInt32LE(owner, 8);
    this.bytes(this.#event);
  }

  /** What was written or sent. */
  bytes(bytes: Uint8Array): void {
    this.#hash = crc32(bytes, this.#hash);
    this.#other = (Math.imul(this.#other, 0x01000193) ^ this.#hash) >>> 0;
  }

  line(time: number, source: string, text: string): void {
    this.bytes(Buffer.from(`${time} ${source} ${text}`));
    if (!this.#keepsLines) return;
    this.#lines.push({ time, source, text });
    if (this.#lines.length > LINES_MAX) this.#lines.splice(0, LINES_MAX / 2);
  }
}

import type { Random } from "./random.ts";

/** Bytes that a disk writes whole or not at all. */
const SECTOR_BYTES = 512;

type Unsynced =
  | {
      readonly kind: "write";
      readonly at: number;
      readonly old: Buffer;
      readonly written: Buffer;
      readonly oldSize: number;
    }
  | { readonly kind: "truncate"; readonly size: number; readonly cut: Buffer; readonly oldSize: number };

/** A file's content, and the part of it that a power cut can lose. */
export class FileContent {
  #bytes = Buffer.alloc(0);
  #size = 0;
  /** Since the last sync, oldest first. */
  #unsynced: Unsynced[] = [];

  get size(): number {
    return this.#size;
  }

  /** The content, as a view. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  read(into: Uint8Array, position: number): number {
    if (position >= this.#size) return 0;
    const found = this.#bytes.subarray(position, Math.min(this.#size, position + into.length));
    into.set(found);
    return found.length;
  }

  write(bytes: Uint8Array, at: number): void {
    const end = at + bytes.length;
    const old = Buffer.from(this.#bytes.subarray(Math.min(at, this.#size), Math.min(end, this.#size)));
    this.#unsynced.push({ kind: "write", at, old, written: Buffer.from(bytes), oldSize: this.#size });
    this.#put(bytes, at);
  }

  truncate(size: number): void {
    const cut = Buffer.from(this.#bytes.subarray(Math.min(size, this.#size), this.#size));
    this.#unsynced.push({ kind: "truncate", size, cut, oldSize: this.#size });
    this.#resize(size);
  }

  sync(): void {
    this.#unsynced = [];
  }

  /**
   * What a power cut or a failed sync leaves: of what was not synced each write alone, in any part of its sectors, or
   * nothing.
   */
  lose(random: Random): void {
    const lost = this.#unsynced;
    this.#unsynced = [];
    for (const each of lost.toReversed()) this.#undo(each);
    // Mostly the system had no time to write anything, or wrote all.
    const share = random.pick([0, 0, 0.5, 1]);
    for (const each of lost) {
      if (!random.chance(share)) continue;
      if (each.kind === "truncate") this.#resize(each.size);
      else if (random.chance(0.5)) this.#put(each.written, each.at);
      else this.#putTorn(each, random);
    }
  }

  /** Flips a bit on the medium. False if there is none. */
  rot(random: Random): boolean {
    if (this.#size === 0) return false;
    const at = random.below(this.#size);
    this.#bytes[at] = this.#bytes[at]! ^ (1 << random.below(8));
    return true;
  }

  copy(): FileContent {
    const copy = new FileContent();
    copy.#bytes = Buffer.from(this.bytes());
    copy.#size = this.#size;
    return copy;
  }

  #undo(each: Unsynced): void {
    if (each.kind === "truncate") {
      this.#resize(each.oldSize);
      this.#bytes.set(each.cut, Math.min(each.size, each.oldSize));
    } else {
      this.#bytes.set(each.old, Math.min(each.at, each.oldSize));
      this.#resize(each.oldSize);
    }
  }

  #put(bytes: Uint8Array, at: number): void {
    if (at + bytes.length > this.#size) this.#resize(at + bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Some sectors of a write: the disk writes them in any order. Often both ends are there, so that nothing but its content says what is missing. */
  #putTorn({ at, written }: { readonly at: number; readonly written: Buffer }, random: Random): void {
    const hasEnds = random.chance(0.5);
    let from = 0;
    while (from < written.length) {
      const end = Math.min(written.length, from + SECTOR_BYTES - ((at + from) % SECTOR_BYTES));
      const isEnd = from === 0 || end === written.length;
      if (random.chance(0.5) || (hasEnds && isEnd)) this.#put(written.subarray(from, end), at + from);
      from = end;
    }
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(size, 2 * this.#bytes.length, 256));
      grown.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = grown;
    }
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }
}

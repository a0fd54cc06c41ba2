import type { Hash } from "../../../primitives/hash.ts";

/** Codes by hash, those read last, up to a number of bytes. Nothing ever replaces a code. */
export class RecentCodes {
  readonly #bytesMax: number;
  /** Least recently read first. */
  readonly #codes = new Map<Hash, Uint8Array>();
  #bytes = 0;
  /** The one read last, which is mostly read again: putting it behind all others costs a map's rehashing now and then. */
  #last: { readonly hash: Hash; readonly code: Uint8Array } | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(hash: Hash): Uint8Array | undefined {
    if (this.#last?.hash === hash) return this.#last.code;
    const code = this.#codes.get(hash);
    if (code === undefined) return undefined;
    this.#codes.delete(hash);
    this.#codes.set(hash, code);
    this.#last = { hash, code };
    return code;
  }

  /** @param code of a hash that `get` did not find */
  add(hash: Hash, code: Uint8Array): void {
    if (code.length > this.#bytesMax) return;
    this.#codes.set(hash, code);
    this.#last = { hash, code };
    this.#bytes += code.length;
    for (const [leastUsed, { length }] of this.#codes) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#codes.delete(leastUsed);
      this.#bytes -= length;
    }
  }
}

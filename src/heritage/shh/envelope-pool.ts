import type { Hash } from "../../base/primitives/hash.ts";
import type { SealedEnvelope } from "./envelope.ts";

/** Memory of an envelope besides its RLP: objects, hash, map entries. */
const ENTRY_BYTES = 600;
/** Part of a full pool to evict at once: sorting for each envelope would be slow. */
const EVICTED_PART = 1 / 16;

export type AddOutcome = "added" | "known" | "expired" | "tooLittleWork";

/** Unexpired envelopes. A full pool evicts those with the least work for their size and time, and accepts none with less until it has room again. */
export class EnvelopePool {
  readonly #bytesMax: number;
  readonly #envelopes = new Map<Hash, SealedEnvelope>();
  /** Hashes by the second at which they expire. */
  readonly #byExpiry = new Map<number, Hash[]>();
  #bytes = 0;
  /** Highest score of envelopes evicted for lack of room. */
  #scoreMin = Number.NEGATIVE_INFINITY;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#envelopes.size;
  }

  has(hash: Hash): boolean {
    return this.#envelopes.has(hash);
  }

  get(hash: Hash): SealedEnvelope | undefined {
    return this.#envelopes.get(hash);
  }

  /** In the order of arrival. */
  all(): Iterable<SealedEnvelope> {
    return this.#envelopes.values();
  }

  add(envelope: SealedEnvelope, nowSeconds: number): AddOutcome {
    const { hash, expiry } = envelope;
    if (expiry <= nowSeconds) return "expired";
    if (this.#envelopes.has(hash)) return "known";
    const size = sizeOf(envelope);
    if (this.#bytes + size > this.#bytesMax * (1 - EVICTED_PART)) {
      if (scoreOf(envelope) <= this.#scoreMin) return "tooLittleWork";
    } else this.#scoreMin = Number.NEGATIVE_INFINITY;
    this.#envelopes.set(hash, envelope);
    this.#bytes += size;
    const same = this.#byExpiry.get(expiry);
    if (same) same.push(hash);
    else this.#byExpiry.set(expiry, [hash]);
    if (this.#bytes > this.#bytesMax) this.#evict();
    return this.#envelopes.has(hash) ? "added" : "tooLittleWork";
  }

  /** Drops expired envelopes; returns their number. */
  sweep(nowSeconds: number): number {
    let dropped = 0;
    for (const [expiry, hashes] of this.#byExpiry) {
      if (expiry > nowSeconds) continue;
      this.#byExpiry.delete(expiry);
      for (const hash of hashes) if (this.#drop(hash)) dropped++;
    }
    return dropped;
  }

  #evict(): void {
    const byScore = [...this.#envelopes.values()]
      .map((envelope) => ({ envelope, score: scoreOf(envelope) }))
      .sort((a, b) => a.score - b.score);
    const target = this.#bytesMax * (1 - EVICTED_PART);
    for (const { envelope, score } of byScore) {
      if (this.#bytes <= target) break;
      this.#drop(envelope.hash);
      this.#scoreMin = score;
    }
  }

  #drop(hash: Hash): boolean {
    const envelope = this.#envelopes.get(hash);
    if (envelope === undefined) return false;
    this.#envelopes.delete(hash);
    this.#bytes -= sizeOf(envelope);
    return true;
  }
}

function sizeOf({ rlp }: SealedEnvelope): number {
  return rlp.length + ENTRY_BYTES;
}

/** Work per byte and second of an envelope. */
function scoreOf({ workProved, ttl, rlp }: SealedEnvelope): number {
  return (workProved * 2 ** 20) / (ttl * rlp.length);
}

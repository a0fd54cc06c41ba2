/**
 * The one source of chance of a simulation: sfc32 (Chris Doty-Humphrey, PractRand), seeded by name. Streams of different names do not disturb
 * each other, so that one more draw in a workload leaves the faults of a seed as they were.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
    const next = mixer(seed);
    this.#a = next();
    this.#b = next();
    this.#c = next();
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** A separate stream, the same for the same name. */
  stream(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** 0 to 2^32 − 1 */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** [0, 1) */
  fraction(): number {
    return this.uint32() / 2 ** 32;
  }

  /** 0 to `end` − 1 */
  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  /** `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** `low` to `high`, which is left out. */
  between(low: number, high: number): number {
    return low + this.fraction() * (high - low);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** The items in another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const other = this.below(i + 1);
      [result[i], result[other]] = [result[other]!, result[i]!];
    }
    return result;
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    this.fill(bytes);
    return bytes;
  }

  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 4) {
      const word = this.uint32();
      for (let i = 0; i < 4 && at + i < bytes.length; i++) bytes[at + i] = word >>> (8 * i);
    }
  }
}

/** FNV-1a over the text, then a finaliser of three rounds for each word. */
function mixer(text: string): () => number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return () => {
    hash = (hash + 0x9e3779b9) | 0;
    let word = hash ^ (hash >>> 16);
    word = Math.imul(word, 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) >>> 0;
  };
}

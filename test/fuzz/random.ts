/** A reproducible source of choices. */
export type Random = {
  /** An integer from 0 to `below` − 1. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** One of the alternatives, each as likely as its weight says. */
  weighted<T>(alternatives: readonly (readonly [weight: number, value: T])[]): T;
  bytes(length: number): Uint8Array;
};

/** Numbers from `seed` alone (xorshift with 128 bits of state, seeded by splitmix). */
export function createRandom(seed: number): Random {
  const state = new Uint32Array(4);
  for (let i = 0, mixed = seed >>> 0; i < 4; i++) {
    mixed = (mixed + 0x9e3779b9) >>> 0;
    let word = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    state[i] = word ^ (word >>> 16);
  }
  const next = (): number => {
    let t = state[3]!;
    const s = state[0]!;
    state[3] = state[2]!;
    state[2] = state[1]!;
    state[1] = s;
    t ^= t << 11;
    t ^= t >>> 8;
    state[0] = t ^ s ^ (s >>> 19);
    return state[0]! / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (from) => from[int(from.length)]!,
    weighted(alternatives) {
      let rest = next() * alternatives.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of alternatives) {
        rest -= weight;
        if (rest < 0) return value;
      }
      return alternatives.at(-1)![1];
    },
    bytes: (length) => Uint8Array.from({ length }, () => int(256)),
  };
}

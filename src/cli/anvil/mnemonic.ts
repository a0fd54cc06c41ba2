import { randomBytes } from "node:crypto";
import { UsageError } from "../errors.ts";

/** BIP-39: bytes of entropy by the number of words. */
const ENTROPY_BYTES: Readonly<Record<number, number>> = { 12: 16, 15: 20, 18: 24, 21: 28, 24: 32 };
const WORDS = 12;

/** A new phrase of as many words. anvil takes 12 for a number that BIP-39 has not. @throws UsageError */
export async function randomMnemonic(words = WORDS): Promise<string> {
  const bytes = ENTROPY_BYTES[words];
  if (bytes === undefined) throw new UsageError(`a mnemonic has 12, 15, 18, 21 or 24 words, not ${words}`);
  return phraseOf(randomBytes(bytes));
}

/**
 * The phrase that anvil makes of a seed. Its entropy is one byte of each word of ChaCha12 (`StdRng::seed_from_u64` of Rust's rand 0.8,
 * `rng.gen::<[u8; 16]>()`), which anybody can compute.
 */
export async function mnemonicOfSeed(seed: bigint): Promise<string> {
  return phraseOf(Uint8Array.from(chacha12(keyOfSeed(seed)), (word) => word & 0xff));
}

async function phraseOf(entropy: Uint8Array): Promise<string> {
  const { entropyToMnemonic } = await import("@scure/bip39");
  const { wordlist } = await import("@scure/bip39/wordlists/english.js");
  return entropyToMnemonic(entropy, wordlist);
}

const MULTIPLIER = 6_364_136_223_846_793_005n;
const INCREMENT = 11_634_580_027_462_260_723n;
const KEY_WORDS = 8;

/** `SeedableRng::seed_from_u64`: a PCG32 step for each word of the key. */
function keyOfSeed(seed: bigint): Uint32Array {
  let state = BigInt.asUintN(64, seed);
  return Uint32Array.from({ length: KEY_WORDS }, () => {
    state = BigInt.asUintN(64, state * MULTIPLIER + INCREMENT);
    const word = Number(BigInt.asUintN(32, ((state >> 18n) ^ state) >> 27n));
    return rotateLeft(word, 32 - Number(state >> 59n));
  });
}

/** "expand 32-byte k" */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
const DOUBLE_ROUNDS = 6;
/** Columns, then diagonals (RFC 8439, 2.3). */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** The first block of the stream, counter and nonce 0. */
function chacha12(key: Uint32Array): Uint32Array {
  const start = Uint32Array.of(...CONSTANTS, ...key, 0, 0, 0, 0);
  const words = start.slice();
  const step = (sum: number, addend: number, target: number, bits: number) => {
    words[sum]! += words[addend]!;
    words[target] = rotateLeft(words[target]! ^ words[sum]!, bits);
  };
  for (let i = 0; i < DOUBLE_ROUNDS; i++) {
    for (const [a, b, c, d] of QUARTERS) {
      step(a, b, d, 16);
      step(c, d, b, 12);
      step(a, b, d, 8);
      step(c, d, b, 7);
    }
  }
  return words.map((word, i) => word + start[i]!);
}

function rotateLeft(word: number, bits: number): number {
  return ((word << (bits & 31)) | (word >>> (-bits & 31))) >>> 0;
}

import type { Checkpoint } from "../../../base/crypto/checkpoint.ts";
import { modExp } from "../../../base/crypto/modexp.ts";
import {
  MODEXP_BYTE_ITERATIONS,
  MODEXP_BYTE_ITERATIONS_BYZANTIUM,
  MODEXP_DIVISOR_BERLIN,
  MODEXP_DIVISOR_BYZANTIUM,
  MODEXP_GAS_MIN,
  MODEXP_GAS_MIN_BERLIN,
  MODEXP_LENGTH_MAX,
  MODEXP_SHORT_COMPLEXITY,
} from "../../../base/params/gas.ts";
import { bigintToFixedBytes, bytesToBigint, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Precompile } from "../state-port.ts";
import { inputSlice, inputWord } from "./input.ts";

/**
 * base^exponent mod modulus on integers of any length (EIP-198), modulus 0 giving 0.
 *
 *     baseLength 32 ‖ exponentLength 32 ‖ modulusLength 32 ‖ base ‖ exponent ‖ modulus  →  result in modulusLength bytes
 */
const HEADER_LENGTH = 96;

type Lengths = { readonly base: bigint; readonly exponent: bigint; readonly modulus: bigint };

/** Gas and input limits of EIP-198. */
export const modexpByzantium: Precompile = {
  name: "MODEXP",
  gas(input) {
    const lengths = readLengths(input);
    const iterations = iterationCount(input, lengths, MODEXP_BYTE_ITERATIONS_BYZANTIUM);
    return (complexityEip198(longest(lengths)) * iterations) / MODEXP_DIVISOR_BYZANTIUM;
  },
  run,
};

/** Gas of EIP-2565. */
export const modexpBerlin: Precompile = {
  name: "MODEXP",
  gas(input) {
    const lengths = readLengths(input);
    const iterations = iterationCount(input, lengths, MODEXP_BYTE_ITERATIONS_BYZANTIUM);
    return atLeast(MODEXP_GAS_MIN_BERLIN, (squaredWords(longest(lengths)) * iterations) / MODEXP_DIVISOR_BERLIN);
  },
  run,
};

/** Gas of EIP-7883, input limits of EIP-7823. */
export const modexpOsaka: Precompile = {
  name: "MODEXP",
  gas(input) {
    const lengths = readLengths(input);
    const iterations = iterationCount(input, lengths, MODEXP_BYTE_ITERATIONS);
    const length = longest(lengths);
    return atLeast(MODEXP_GAS_MIN, (length <= 32n ? MODEXP_SHORT_COMPLEXITY : 2n * squaredWords(length)) * iterations);
  },
  run(input, checkpoint) {
    const { base, exponent, modulus } = readLengths(input);
    if (base > MODEXP_LENGTH_MAX || exponent > MODEXP_LENGTH_MAX || modulus > MODEXP_LENGTH_MAX) {
      return { reason: "one or more of base/exponent/modulus length exceeded 1024 bytes" };
    }
    return run(input, checkpoint);
  },
};

/** The gas has bounded the lengths, except that of an exponent with an empty modulus. */
function run(input: Uint8Array, checkpoint?: Checkpoint): Uint8Array {
  const lengths = readLengths(input);
  if (lengths.modulus === 0n) return EMPTY_BYTES;
  const baseLength = Number(lengths.base);
  const exponentLength = Number(lengths.exponent);
  const modulusLength = Number(lengths.modulus);
  const exponentAt = HEADER_LENGTH + baseLength;
  const modulus = bytesToBigint(inputSlice(input, exponentAt + exponentLength, modulusLength));
  if (modulus === 0n) return new Uint8Array(modulusLength);
  const base = bytesToBigint(inputSlice(input, HEADER_LENGTH, baseLength));
  const exponent = inputSlice(input, exponentAt, exponentLength);
  return bigintToFixedBytes(modExp(base, exponent, modulus, checkpoint), modulusLength);
}

function readLengths(input: Uint8Array): Lengths {
  return {
    base: inputWord(input, 0),
    exponent: inputWord(input, 32),
    modulus: inputWord(input, 64),
  };
}

function longest({ base, modulus }: Lengths): bigint {
  return base > modulus ? base : modulus;
}

/**
 * The number of squarings that the gas pays for, at least 1: the bits of the exponent's first 32 bytes below the highest one set,
 * and `perByte` for each byte after them.
 */
function iterationCount(input: Uint8Array, { base, exponent }: Lengths, perByte: bigint): bigint {
  const start = BigInt(HEADER_LENGTH) + base;
  const headLength = exponent < 32n ? Number(exponent) : 32;
  const head = start < BigInt(input.length) ? bytesToBigint(inputSlice(input, Number(start), headLength)) : 0n;
  const headBits = head === 0n ? 0n : BigInt(head.toString(2).length - 1);
  const tailLength = exponent > 32n ? exponent - 32n : 0n;
  return atLeast(1n, tailLength * perByte + headBits);
}

function complexityEip198(length: bigint): bigint {
  if (length <= 64n) return length * length;
  if (length <= 1024n) return (length * length) / 4n + 96n * length - 3072n;
  return (length * length) / 16n + 480n * length - 199_680n;
}

function squaredWords(length: bigint): bigint {
  const words = (length + 7n) / 8n;
  return words * words;
}

function atLeast(minimum: bigint, value: bigint): bigint {
  return value > minimum ? value : minimum;
}

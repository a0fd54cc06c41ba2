import { bytesToBigint, readBigint } from "../../primitives/bytes.ts";
import { compileModule } from "../../wasm/compile.ts";
import { invertAllModulo } from "../modular.ts";
import type { SignedDigest } from "../secp256k1-backend.ts";
import { AFFINE_SIZE } from "./affine.ts";
import { JACOBIAN_SIZE } from "./jacobian.ts";
import { type Layout, layoutOf, MULTIPLE_STEPS, multipleAt, ODD_MULTIPLES, writeSumLists } from "./layout.ts";
import { MULTIPLE_SIZE, type RecoveryFunctions, recoveryModule, WINDOW_MULTIPLES, WINDOWS } from "./recovery-code.ts";
import { DIGIT_COUNT, ORDER, splitScalar, writeDigits } from "./scalars.ts";

/** Recoveries that share their inversions: a larger batch leaves the second-level cache. */
const BATCH_MAX = 64;

/** From these batch sizes on, the rows of points are halved once more: this saves 16, 8, 4 and 2 sums of 0.2 µs each for an inversion of 8 µs. */
const HALVINGS_FROM = [3, 6, 11, 22] as const;

const PAGE = 0x10000;

export type KeyRecovery = {
  /** The 64-byte public keys (x ‖ y) of the signatures, undefined for invalid ones. */
  recover(inputs: readonly SignedDigest[]): (Uint8Array | undefined)[];
};

/**
 * The public key of a signature is u1·G + u2·R with u1 = −z/r, u2 = s/r and R the point whose x is r (SEC 1, 4.1.6).
 *
 * u2·R: the endomorphism splits u2 into two scalars of 128 bits, added from odd multiples of R with shared doublings. u1·G: 32 points of a
 * table, one per byte of the scalar, are halved by affine additions. Affine additions, the inverses of r and the final division share one
 * inversion per batch. Time depends on the inputs, none of which is secret.
 */
export function createKeyRecovery(): KeyRecovery {
  const layout = layoutOf(BATCH_MAX);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(layout.size / PAGE) });
  const compiled = compileModule(recoveryModule(layout.scratch, layout.products));
  const instance = new WebAssembly.Instance(compiled, { host: { memory } });
  const wasm = instance.exports as RecoveryFunctions;
  writeGeneratorTable(wasm, memory.buffer, layout);
  writeSumLists(memory.buffer, layout, BATCH_MAX);

  const bytes = new Uint8Array(memory.buffer);
  const encoded = Array.from(
    { length: BATCH_MAX },
    (_, i) => new BigUint64Array(memory.buffer, layout.encoded + 32 * i, 4),
  );
  const digits = Array.from(
    { length: 2 * BATCH_MAX },
    (_, i) => new Int8Array(memory.buffer, layout.digits + DIGIT_COUNT * i, DIGIT_COUNT),
  );
  const encode = (index: number, value: bigint) => {
    const words = encoded[index]!;
    words[0] = value;
    words[1] = value >> 64n;
    words[2] = value >> 128n;
    words[3] = value >> 192n;
  };
  const pointsOf = (index: number) => layout.points + index * layout.pointsSize;

  /** Finds R for r; false if no point has that x. */
  function lift(index: number, r: bigint, yParity: 0 | 1): boolean {
    const point = multipleAt(layout, index, 1);
    encode(index, r);
    const isFound = wasm.lift(point, layout.encoded + 32 * index, yParity) === 1;
    // The steps of the batch need a point on the curve: the generator.
    if (!isFound) bytes.copyWithin(point, layout.generatorTable, layout.generatorTable + AFFINE_SIZE);
    return isFound;
  }

  function writeScalars(index: number, { digest, signature }: SignedDigest, inverse: bigint): void {
    const s = readBigint(signature, 32, 64);
    const u1 = (bytesToBigint(digest) * (ORDER - inverse)) % ORDER;
    // An odd scalar is the sum of its bits as +1 and −1. They are the bits of (u + 2^256 − 1) / 2, so no byte selects infinity.
    encode(index, ((u1 & 1n ? u1 : u1 - ORDER) + 2n ** 256n - 1n) >> 1n);
    const [a, b] = splitScalar((s * inverse) % ORDER);
    writeDigits(digits[2 * index]!, a);
    writeDigits(digits[2 * index + 1]!, b);
  }

  function recoverBatch(inputs: readonly SignedDigest[]): (Uint8Array | undefined)[] {
    const count = inputs.length;
    const rs = inputs.map(({ signature }) => readBigint(signature, 0, 32));
    const isFound = inputs.map(({ yParity }, i) => lift(i, rs[i]!, yParity));
    MULTIPLE_STEPS.forEach((sums, step) => {
      wasm.addAll(layout.multipleSums[step]!, count * sums.length);
    });
    const inverses = invertAllModulo(rs, ORDER);
    inputs.forEach((input, i) => {
      writeScalars(i, input, inverses[i]!);
      wasm.select(pointsOf(i), layout.encoded + 32 * i, layout.generatorTable);
    });
    let rowLength = WINDOWS;
    HALVINGS_FROM.forEach((least, halving) => {
      if (count < least) return;
      rowLength /= 2;
      wasm.addAll(layout.halvingSums[halving]!, count * rowLength);
    });
    const rowStep = layout.pointsSize / rowLength;
    for (let i = 0; i < count; i++) {
      const multiples = multipleAt(layout, i, 1);
      for (let m = 0; m < ODD_MULTIPLES; m++) wasm.endomorphism(multiples + m * MULTIPLE_SIZE);
      const result = layout.results + i * JACOBIAN_SIZE;
      wasm.clear(result);
      wasm.ladder(result, layout.digits + i * layout.digitsSize, multiples);
      wasm.sumRow(result, pointsOf(i), rowLength, rowStep);
    }
    wasm.normalize(layout.results, JACOBIAN_SIZE, count, layout.keys);
    return isFound.map((found, i) => (found ? publicKeyAt(layout.keys + 64 * i) : undefined));
  }

  /** Undefined for infinity, which `normalize` writes as zeros; no point has x = 0. */
  function publicKeyAt(address: number): Uint8Array | undefined {
    const key = new Uint8Array(64);
    let isInfinity = true;
    for (let i = 0; i < 32; i++) {
      key[i] = bytes[address + 31 - i]!;
      key[32 + i] = bytes[address + 63 - i]!;
      if (key[i] !== 0) isInfinity = false;
    }
    return isInfinity ? undefined : key;
  }

  return {
    recover(inputs) {
      if (inputs.length <= BATCH_MAX) return inputs.length === 0 ? [] : recoverBatch(inputs);
      const keys: (Uint8Array | undefined)[] = [];
      for (let at = 0; at < inputs.length; at += BATCH_MAX) {
        keys.push(...recoverBatch(inputs.slice(at, at + BATCH_MAX)));
      }
      return keys;
    },
  };
}

const GENERATOR_X = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n;
const GENERATOR_Y = 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n;
const BITS = 256 / WINDOWS;

/**
 * Writes the odd multiples 1, 3 … 255 of 2^(8w)·G for each window w: 4096 affine points in 2 ms. Uses the memory of a batch of `WINDOWS`
 * recoveries, including the lists of sums.
 */
function writeGeneratorTable(
  wasm: RecoveryFunctions,
  memory: ArrayBufferLike,
  { generatorTable, results, keys, points, halvingSums }: Layout,
): void {
  const windowSize = WINDOW_MULTIPLES * AFFINE_SIZE;
  const bytes = new BigUint64Array(memory, keys, 8);
  for (let word = 0; word < 4; word++) {
    bytes[word] = GENERATOR_X >> BigInt(64 * word);
    bytes[4 + word] = GENERATOR_Y >> BigInt(64 * word);
  }
  wasm.setPoint(generatorTable, keys);
  wasm.clear(results);
  wasm.add(results, generatorTable, generatorTable + AFFINE_SIZE / 2, 0n);
  const coordinates = new Uint8Array(memory);
  for (let w = 1; w < WINDOWS; w++) {
    const power = results + w * JACOBIAN_SIZE;
    coordinates.copyWithin(power, power - JACOBIAN_SIZE, power);
    for (let i = 0; i < BITS; i++) wasm.double(power);
  }
  wasm.normalize(results, JACOBIAN_SIZE, WINDOWS, keys);
  for (let w = 0; w < WINDOWS; w++) wasm.setPoint(generatorTable + w * windowSize, keys + 64 * w);
  // All windows in parallel: first 2 · 2^(8w) · G, then each multiple from the previous one.
  const list = halvingSums[0]!;
  const sums = new Uint32Array(memory, list, 3 * WINDOWS);
  const addToAll = (write: (first: number, doubled: number) => readonly number[]) => {
    for (let w = 0; w < WINDOWS; w++) {
      sums.set(write(generatorTable + w * windowSize, points + w * AFFINE_SIZE), 3 * w);
    }
    wasm.addAll(list, WINDOWS);
  };
  addToAll((first, doubled) => [doubled, first, first]);
  for (let at = AFFINE_SIZE; at < windowSize; at += AFFINE_SIZE) {
    addToAll((first, doubled) => [first + at, first + at - AFFINE_SIZE, doubled]);
  }
}

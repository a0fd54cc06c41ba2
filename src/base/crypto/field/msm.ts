import type { Checkpoint } from "../checkpoint.ts";

/** The group operations that a multi-scalar multiplication needs; addresses are in linear memory. */
export type MsmGroup = {
  /** Bytes of a coordinate. */
  readonly size: number;
  double(to: number, p: number): void;
  add(to: number, p: number, q: number, qy: number): void;
  addAffine(to: number, p: number, q: number, qy: number): void;
  /** endomorphism(to, from), both terms (see `multiScalarMultiply`): `from` times `base`. */
  endomorphism(to: number, from: number): void;
  /** A scalar that multiplies cheaply; reduced scalars have `digits` digits to this base. */
  readonly base: bigint;
  readonly digits: number;
  readonly order: bigint;
  /** Sets −y of a term from its y. */
  negate(term: number): void;
  /** Sets `length` bytes at `address` to zero. */
  clear(address: number, length: number): void;
  copy(to: number, from: number, length: number): void;
};

/** Coordinates of a term in memory: x, y, z and −y, with z = 1. */
export const TERM_COORDINATES = 4;

/** Up to this many points, tables are cheaper than buckets; see bench/micro/precompiles.ts. */
const TABLE_POINTS_MAX = 9;
const TABLE_WINDOW = 5;
/** The odd multiples 1, 3, … 15. */
const TABLE_LENGTH = 1 << (TABLE_WINDOW - 2);
const WINDOW_MAX = 8;

/** Bytes of working memory for up to `points` points. */
export function msmMemory({ size, digits }: Pick<MsmGroup, "size" | "digits">, points: number) {
  const term = TERM_COORDINATES * size;
  const tables = Math.min(points, TABLE_POINTS_MAX) * digits * TABLE_LENGTH * term;
  const buckets = points * digits * term + (1 << (WINDOW_MAX - 1)) * 3 * size;
  return Math.max(tables, buckets) + 2 * 3 * size;
}

/**
 * result += Σ scalars[i] · points[i]. The points are consecutive terms from `work + 2 points`, and are overwritten.
 *
 * Each scalar is split into digits to `base`, and each point into as many images under the endomorphism, so that all points share the doublings
 * of one short scalar. Few points are then added from tables of their multiples (Straus), many are sorted into buckets (Pippenger).
 * @param work address of `msmMemory` bytes
 */
export function multiScalarMultiply(
  group: MsmGroup,
  result: number,
  scalars: readonly bigint[],
  work: number,
  checkpoint: Checkpoint,
): void {
  const count = scalars.length * group.digits;
  if (count === 0) return;
  const parts = scalars.flatMap((scalar) => digitsOf(scalar % group.order, group));
  const bits = group.base.toString(2).length;
  const usesTables = scalars.length <= TABLE_POINTS_MAX;
  // With tables any bit can have a digit, with buckets one bit per window.
  const window = usesTables ? TABLE_WINDOW : bestWindow(group, count);
  const step = usesTables ? 1 : window;
  const positions = Math.ceil((bits + 1) / step);
  const digits = new Int16Array(count * positions);
  parts.forEach((part, i) => {
    const own = digits.subarray(i * positions, (i + 1) * positions);
    if (usesTables) writeNonAdjacentForm(own, part, window);
    else writeSignedDigits(own, part, window);
  });
  const addDigits = usesTables ? fromTables(group, count, work) : fromBuckets(group, count, window, work);
  const accumulator = work;
  group.clear(accumulator, 3 * group.size);
  for (let position = positions - 1; position >= 0; position--) {
    checkpoint();
    for (let i = 0; i < step; i++) group.double(accumulator, accumulator);
    addDigits(accumulator, (i) => digits[i * positions + position]!);
  }
  group.add(result, result, accumulator, accumulator + group.size);
}

function digitsOf(scalar: bigint, { base, digits }: MsmGroup): bigint[] {
  let rest = scalar;
  return Array.from({ length: digits }, () => {
    const digit = rest % base;
    rest /= base;
    return digit;
  });
}

export function firstTerm({ size }: Pick<MsmGroup, "size">, work: number): number {
  return work + 2 * 3 * size;
}

/** Adds digit × term over all terms to the accumulator; `digit` returns the digits of the current position. */
type AddDigits = (accumulator: number, digit: (term: number) => number) => void;

/** For odd digits below 16, from a table for each term. */
function fromTables(group: MsmGroup, count: number, work: number): AddDigits {
  const { size } = group;
  const term = TERM_COORDINATES * size;
  const table = TABLE_LENGTH * term;
  const first = firstTerm(group, work);
  const twice = work;
  // In reverse order, since the tables take more room than the terms they are made from.
  for (let i = count / group.digits - 1; i >= 0; i--) {
    const own = first + i * group.digits * table;
    group.copy(own, first + i * term, term);
    group.double(twice, own);
    for (let n = 1; n < TABLE_LENGTH; n++) {
      const multiple = own + n * term;
      group.add(multiple, twice, multiple - term, multiple - term + size);
      group.negate(multiple);
    }
    for (let j = 1; j < group.digits; j++) {
      for (let n = 0; n < TABLE_LENGTH; n++) {
        const image = own + j * table + n * term;
        group.endomorphism(image, image - table);
      }
    }
  }
  return (accumulator, digitOf) => {
    for (let i = 0; i < count; i++) {
      const digit = digitOf(i);
      if (digit === 0) continue;
      const multiple = first + i * table + (Math.abs(digit) >> 1) * term;
      group.add(accumulator, accumulator, multiple, multiple + (digit > 0 ? 1 : 3) * size);
    }
  };
}

/** For digits up to 2^(window−1), with one bucket each. */
function fromBuckets(group: MsmGroup, count: number, window: number, work: number): AddDigits {
  const { size } = group;
  const term = TERM_COORDINATES * size;
  const point = 3 * size;
  const first = firstTerm(group, work);
  const buckets = first + count * term;
  const bucketCount = 1 << (window - 1);
  const running = work + point;
  for (let i = count / group.digits - 1; i >= 0; i--) {
    const own = first + i * group.digits * term;
    group.copy(own, first + i * term, term);
    for (let j = 1; j < group.digits; j++) {
      group.endomorphism(own + j * term, own + (j - 1) * term);
    }
  }
  return (accumulator, digitOf) => {
    group.clear(buckets, bucketCount * point);
    for (let i = 0; i < count; i++) {
      const digit = digitOf(i);
      if (digit === 0) continue;
      const bucket = buckets + (Math.abs(digit) - 1) * point;
      const own = first + i * term;
      group.addAffine(bucket, bucket, own, own + (digit > 0 ? 1 : 3) * size);
    }
    // Bucket n counts n times: the sum of all partial sums from the last bucket down.
    group.clear(running, point);
    for (let n = bucketCount - 1; n >= 0; n--) {
      const bucket = buckets + n * point;
      group.add(running, running, bucket, bucket + size);
      group.add(accumulator, accumulator, running, running + size);
    }
  };
}

/** The window with the fewest field multiplications for `count` terms. */
function bestWindow({ base }: MsmGroup, count: number): number {
  const bits = base.toString(2).length;
  const cost = (window: number) => Math.ceil((bits + 1) / window) * (11 * count + 32 * (1 << (window - 1)));
  let best = 2;
  for (let window = 3; window <= WINDOW_MAX; window++) {
    if (cost(window) < cost(best)) best = window;
  }
  return best;
}

/** `value` in digits from −2^(window−1) + 1 to 2^(window−1), least significant first. */
function writeSignedDigits(digits: Int16Array, value: bigint, window: number): void {
  const half = 1 << (window - 1);
  let carry = 0;
  let bits = 0;
  let bitCount = 0;
  let rest = value;
  for (let i = 0; i < digits.length; i++) {
    if (bitCount < window) {
      bits |= Number(rest & 0xffffn) << bitCount;
      rest >>= 16n;
      bitCount += 16;
    }
    const digit = (bits & (2 * half - 1)) + carry;
    bits >>>= window;
    bitCount -= window;
    carry = digit > half ? 1 : 0;
    digits[i] = digit - 2 * half * carry;
  }
}

/** `value` in odd digits below 2^(window−1) either way with at least window − 1 zeros between them, least significant first. */
export function writeNonAdjacentForm(digits: Int16Array, value: bigint, window: number): void {
  const radix = 1 << window;
  let rest = value;
  for (let i = 0; rest !== 0n; ) {
    const low = Number(rest & BigInt(radix - 1));
    if ((low & 1) === 0) {
      rest >>= 1n;
      i++;
      continue;
    }
    const digit = low >= radix / 2 ? low - radix : low;
    digits[i] = digit;
    rest = (rest - BigInt(digit)) >> BigInt(window);
    i += window;
  }
}

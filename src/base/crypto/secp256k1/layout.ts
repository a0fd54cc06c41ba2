import { AFFINE_SIZE, SUM_SIZE } from "./affine.ts";
import { ELEMENT_SIZE } from "./field.ts";
import { JACOBIAN_SIZE } from "./jacobian.ts";
import { MULTIPLE_SIZE, SCRATCH_SIZE, WINDOW_MULTIPLES, WINDOWS } from "./recovery-code.ts";
import { DIGIT_COUNT } from "./scalars.ts";

/** Sums of a point's multiples, by number, in steps that use the results of earlier ones: the sum and its operands. */
export const MULTIPLE_STEPS: readonly (readonly (readonly [number, number, number])[])[] = [
  [[2, 1, 1]],
  [
    [3, 2, 1],
    [4, 2, 2],
  ],
  [
    [5, 4, 1],
    [7, 4, 3],
    [8, 4, 4],
  ],
  [
    [9, 8, 1],
    [11, 8, 3],
    [13, 8, 5],
    [15, 8, 7],
  ],
];
/** 1, 3 … 15 for digits of 5 bits, and 2, 4 and 8. */
export const ODD_MULTIPLES = 8;
const ALL_MULTIPLES = ODD_MULTIPLES + 3;

/** Halvings of the 32 points of a scalar. The last two points are not added here, because they may be equal. */
const HALVINGS = 4;

/** Addresses in the linear memory of `batch` recoveries. An array's address is that of its first entry. */
export type Layout = {
  readonly scratch: number;
  readonly products: number;
  readonly generatorTable: number;
  /** Lists of sums for each of MULTIPLE_STEPS, ordered by recovery. */
  readonly multipleSums: readonly number[];
  readonly halvingSums: readonly number[];
  readonly multiples: number;
  readonly multiplesSize: number;
  readonly points: number;
  readonly pointsSize: number;
  readonly results: number;
  /** Two rows of digits and 32 bytes of scalar or coordinate per recovery. */
  readonly digits: number;
  readonly digitsSize: number;
  readonly encoded: number;
  /** 64 bytes of public key per recovery, least significant byte of each coordinate first. */
  readonly keys: number;
  readonly size: number;
};

export function layoutOf(batch: number): Layout {
  let top = 0;
  const reserve = (size: number) => {
    const address = top;
    top += (size + 7) & -8;
    return address;
  };
  const multiplesSize = ALL_MULTIPLES * MULTIPLE_SIZE;
  const pointsSize = WINDOWS * AFFINE_SIZE;
  const digitsSize = 2 * DIGIT_COUNT;
  return {
    scratch: reserve(SCRATCH_SIZE),
    products: reserve(Math.max(batch * (WINDOWS / 2), WINDOWS) * ELEMENT_SIZE),
    generatorTable: reserve(WINDOWS * WINDOW_MULTIPLES * AFFINE_SIZE),
    multipleSums: MULTIPLE_STEPS.map((sums) => reserve(batch * sums.length * SUM_SIZE)),
    halvingSums: Array.from({ length: HALVINGS }, (_, i) => reserve(batch * (WINDOWS >> (i + 1)) * SUM_SIZE)),
    multiples: reserve(batch * multiplesSize),
    multiplesSize,
    points: reserve(batch * pointsSize),
    pointsSize,
    results: reserve(batch * JACOBIAN_SIZE),
    digits: reserve(batch * digitsSize),
    digitsSize,
    encoded: reserve(batch * 32),
    keys: reserve(batch * 64),
    size: top,
  };
}

/** Writes the lists of sums, which are equal for all batches: a smaller batch uses a prefix. */
export function writeSumLists(memory: ArrayBufferLike, layout: Layout, batch: number): void {
  const words = new Uint32Array(memory);
  MULTIPLE_STEPS.forEach((sums, step) => {
    let at = layout.multipleSums[step]! / 4;
    for (let i = 0; i < batch; i++) {
      for (const numbers of sums) {
        for (const number of numbers) words[at++] = multipleAt(layout, i, number);
      }
    }
  });
  layout.halvingSums.forEach((list, halving) => {
    const distance = AFFINE_SIZE << halving;
    let at = list / 4;
    for (let i = 0; i < batch; i++) {
      const end = layout.points + (i + 1) * layout.pointsSize;
      for (let p = end - layout.pointsSize; p < end; p += 2 * distance) {
        words[at++] = p;
        words[at++] = p;
        words[at++] = p + distance;
      }
    }
  });
}

/** Address of a multiple of the point of recovery `index`. */
export function multipleAt(layout: Layout, index: number, number: number): number {
  const slot = number % 2 === 1 ? number >> 1 : ODD_MULTIPLES + Math.log2(number) - 1;
  return layout.multiples + index * layout.multiplesSize + slot * MULTIPLE_SIZE;
}

import { effectiveTip } from "../types/transaction/fees.ts";
import { bumped, type Entry } from "./entry.ts";

/**
 * Order of what two transactions pay: by the tip at the next base fee, then the fee cap, then the tip cap, as in geth.
 * @param baseFee of the next block, in wei; undefined before London
 * @returns below 0: `a` pays less
 */
export function comparePrices(a: Entry, b: Entry, baseFee: bigint | undefined): number {
  return (
    sign(tipAt(a, baseFee) - tipAt(b, baseFee)) ||
    sign(a.maxFeePerGas - b.maxFeePerGas) ||
    sign(a.maxPriorityFeePerGas - b.maxPriorityFeePerGas)
  );
}

/**
 * True when a proposer gets at least `percent` more per gas from `next` than from `old`. Where the fee caps of both are below
 * the base fee, the caps decide.
 */
export function paysMoreBy(
  percent: number,
  next: Entry,
  old: Entry,
  baseFee: bigint | undefined,
): boolean {
  const nextTip = tipAt(next, baseFee);
  const oldTip = tipAt(old, baseFee);
  if (nextTip >= 0n && oldTip >= 0n) return exceeds(nextTip, oldTip, percent);
  return nextTip >= 0n || (oldTip < 0n && exceeds(next.maxFeePerGas, old.maxFeePerGas, percent));
}

function exceeds(next: bigint, old: bigint, percent: number): boolean {
  return next > old && next >= bumped(old, percent);
}

function tipAt({ tx, maxFeePerGas }: Entry, baseFee: bigint | undefined): bigint {
  return baseFee === undefined ? maxFeePerGas : effectiveTip(tx, baseFee);
}

function sign(value: bigint): number {
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}

import type { Time } from "../application.ts";

/** When blocks are made: at once for a pending transaction, only on demand, or every so many milliseconds. */
export type BlockTime = "instant" | "manual" | { readonly intervalMs: number };

/** The same for an engine whose caller may have both: at once for a pending transaction, and every so many milliseconds (0: never). */
export type BlockMode = { readonly automine: boolean; readonly intervalMs: number };

export function modeOf(blockTime: BlockTime): BlockMode {
  return {
    automine: blockTime === "instant",
    intervalMs: typeof blockTime === "object" ? blockTime.intervalMs : 0,
  };
}

/**
 * Least seconds between the timestamps of two blocks: 1, as with anvil, Hardhat and `geth --dev`, so that other clients import the
 * chain. Only blocks that are configured more often than once a second repeat seconds, because time would run ahead for good.
 */
export function timestampStepOf(blockTime: BlockTime): 0 | 1 {
  return typeof blockTime === "object" && blockTime.intervalMs < 1000 ? 0 : 1;
}

/** The time of the next block: the clock, but at least `step` seconds after the head. */
export function nextBlockTime(now: Time, headTimestamp: number, step: 0 | 1): Time {
  const earliest = headTimestamp + step;
  return now.seconds >= earliest ? now : { seconds: earliest, nanos: 0 };
}

/**
 * fast-check with one seed for every run, so that a test that passed here passes everywhere; `TEST_SEED=random` (or a
 * number) looks elsewhere. `fast-check.ts` exports it as fast-check exports itself.
 */
import fc from "fast-check";
import { IS_NIGHTLY } from "./nightly.ts";

const seed = process.env["TEST_SEED"] ?? "20251203";
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });

/** Of the cases that the nightly run tries, a change tries this share. */
const SHARE = IS_NIGHTLY || process.env["FUZZ_RUNS"] !== undefined ? 1 : 0.4;
const RUNS_DEFAULT = 100;

export * from "fast-check";
export const assert = ((property: fc.IRawProperty<unknown>, parameters: fc.Parameters<unknown> = {}) =>
  fc.assert(property, {
    ...parameters,
    numRuns: Math.ceil(SHARE * (parameters.numRuns ?? RUNS_DEFAULT)),
  })) as typeof fc.assert;

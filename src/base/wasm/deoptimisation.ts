import { setFlagsFromString } from "node:v8";

/**
 * From this version on V8 deoptimises WebAssembly functions, and optimising one that calls another ends the process where Liftoff has
 * compiled neither, as in `compile.ts`. `--no-liftoff` on V8's command line switches deoptimisation off too, set later it does not.
 * See docs/v8-wasm-deopt.md.
 */
const V8_WITH_DEOPTIMISATION = { major: 13, minor: 7 };

/**
 * For good and before each module, not within `compileOptimised` alone: while that runs, other threads compile with the same flags, and the
 * first of them to end would switch deoptimisation on for the rest. Before the bundle is loaded too: V8 rejects a code cache that was
 * written with other flags.
 */
export function switchOffDeoptimisation(): void {
  const [major = 0, minor = 0] = (process.versions.v8 ?? "").split(".").map(Number);
  const first = V8_WITH_DEOPTIMISATION;
  // An unknown flag would be an error on the terminal.
  if (major < first.major || (major === first.major && minor < first.minor)) return;
  setFlagsFromString("--no-wasm-deopt");
}

import { setFlagsFromString } from "node:v8";

/**
 * From this version on V8 deoptimises WebAssembly functions. Optimising a function that calls another then crashes the process if Liftoff has
 * compiled neither, as in `compile.ts`. `--no-liftoff` disables deoptimisation on V8's command line, but not when set later. See
 * docs/v8-wasm-deopt.md.
 */
const V8_WITH_DEOPTIMISATION = { major: 13, minor: 7 };

/**
 * Disables deoptimisation permanently and before each module, instead of only within `compileOptimised`: other threads compile with the same
 * flags at that time, and the first to end would enable it for the rest. Also before the bundle is loaded: V8 rejects a code cache that was
 * written with other flags.
 */
export function switchOffDeoptimisation(): void {
  const [major = 0, minor = 0] = (process.versions.v8 ?? "").split(".").map(Number);
  const first = V8_WITH_DEOPTIMISATION;
  // V8 prints an error for an unknown flag.
  if (major < first.major || (major === first.major && minor < first.minor)) return;
  setFlagsFromString("--no-wasm-deopt");
}

import { setFlagsFromString } from "node:v8";

/** V8's default: as many threads as it has. */
const V8_COMPILATION_TASKS = 128;

/**
 * From this version on V8 deoptimises WebAssembly functions, and optimising one that calls another ends the process where Liftoff has
 * compiled neither, as in `compileOptimised`. `--no-liftoff` on V8's command line switches deoptimisation off too, set later it does not.
 * See docs/v8-wasm-deopt.md.
 */
const V8_WITH_DEOPTIMISATION = { major: 13, minor: 7 };

/** Compiles `bytes` as V8 does by itself: at first without optimisation, each function at its first call. */
export function compileModule(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  switchOffDeoptimisation();
  return new WebAssembly.Module(bytes);
}

/**
 * V8 cannot replace a running baseline function, so a first long call would stay slow. Compiling optimised code at once
 * takes some 20 ms for the interpreter. The flags are for the whole process and put back at once.
 *
 * @param threads that may compile at once
 */
export function compileOptimised(
  bytes: Uint8Array<ArrayBuffer>,
  { threads = V8_COMPILATION_TASKS } = {},
): WebAssembly.Module {
  switchOffDeoptimisation();
  setFlagsFromString(`--wasm-num-compilation-tasks=${threads}`);
  setFlagsFromString("--no-liftoff");
  setFlagsFromString("--no-wasm-lazy-compilation");
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString(`--wasm-num-compilation-tasks=${V8_COMPILATION_TASKS}`);
    setFlagsFromString("--liftoff");
    setFlagsFromString("--wasm-lazy-compilation");
    // Implied by `--no-liftoff`. Left off, it would make V8 reject the code cache this process writes (src/bundle/load-bundle.ts).
    setFlagsFromString("--wasm-dynamic-tiering");
  }
}

/**
 * For good and before each module, not within `compileOptimised`: while that runs, other threads compile with the same flags, and the
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

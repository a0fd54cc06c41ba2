import { setFlagsFromString } from "node:v8";
import { switchOffDeoptimisation } from "./deoptimisation.ts";

/** V8's default: as many threads as it has. */
const V8_COMPILATION_TASKS = 128;

/** Compiles `bytes` with V8's defaults: lazily, and at first without optimisation. */
export function compileModule(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  switchOffDeoptimisation();
  return new WebAssembly.Module(bytes);
}

/**
 * V8 cannot replace a running baseline function, so a long first call would stay slow. Compiling optimised code at once takes about 20 ms for
 * the interpreter. The flags are process-wide and reset immediately.
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
    // Implied by `--no-liftoff`. If it stayed off, V8 would reject the code cache that this process writes (src/package/bundle/load-bundle.ts).
    setFlagsFromString("--wasm-dynamic-tiering");
  }
}

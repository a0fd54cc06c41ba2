import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Where the compiled QuickJS comes from: a file of WebAssembly and nothing else (ADR 35). */
const MODULE = "@jitl/quickjs-wasmfile-release-sync/wasm";

export function readQuickJsModule(): Uint8Array {
  return readFileSync(createRequire(import.meta.url).resolve(MODULE));
}

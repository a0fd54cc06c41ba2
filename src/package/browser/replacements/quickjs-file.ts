import { invariant } from "../../../base/errors.ts";
import { decodeText } from "../platform/text-encodings.ts";

let module: Uint8Array<ArrayBuffer> | undefined;

/** Loads QuickJS, half a megabyte, before the first call that traces with a script. */
export async function loadQuickJs(): Promise<void> {
  module ??= decodeText((await import("wasm:quickjs")).default, "latin1");
}

export function readQuickJsModule(): Uint8Array<ArrayBuffer> {
  invariant(module !== undefined, "QuickJS is loaded before the trace that needs it");
  return module;
}

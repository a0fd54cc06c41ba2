import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { invariant } from "../errors.ts";

/** WebAssembly inside a package, read without running the package's code. */
export function readMclModule(): Uint8Array<ArrayBuffer> {
  const path = createRequire(import.meta.url).resolve("mcl-wasm/dist/mcl_c.js");
  const literal = /wasmBase64 = '([A-Za-z0-9+/=]+)'/.exec(readFileSync(path, "latin1"));
  invariant(literal, "mcl-wasm holds its module as a base64 literal");
  return new Uint8Array(Buffer.from(literal[1]!, "base64"));
}

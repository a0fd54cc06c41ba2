import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { invariant } from "../errors.ts";

/** WebAssembly that packages hold, read without running their own code. */
export function readMclModule(): Uint8Array<ArrayBuffer> {
  const path = createRequire(import.meta.url).resolve("mcl-wasm/dist/mcl_c.js");
  const literal = /wasmBase64 = '([A-Za-z0-9+/=]+)'/.exec(readFileSync(path, "latin1"));
  invariant(literal, "mcl-wasm holds its module as a base64 literal");
  return new Uint8Array(Buffer.from(literal[1]!, "base64"));
}

/** libsecp256k1 of @bitauth/libauth. */
export function readSecp256k1Module(): Uint8Array<ArrayBuffer> {
  const entry = createRequire(import.meta.url).resolve("@bitauth/libauth/package.json");
  const file = join(dirname(entry), "build/lib/bin/secp256k1/secp256k1.wasm");
  return new Uint8Array(readFileSync(file));
}

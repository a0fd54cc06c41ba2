import { createRequire } from "node:module";

/** The JavaScript of LMDB and its addon. The build puts the former into the bundle, with a code cache (`scripts/bundle.mjs`). */
export function requireLmdb(): typeof import("lmdb") {
  return createRequire(import.meta.url)("lmdb");
}

/** Modules that `scripts/browser.mjs` makes. */

/** WebAssembly of a package as Latin-1, one character per byte. */
declare module "wasm:*" {
  const bytes: string;
  export default bytes;
}

declare module "evmint:version" {
  const version: string;
  export default version;
}

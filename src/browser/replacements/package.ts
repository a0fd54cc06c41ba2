import version from "evmint:version";

export function packageVersion(): string {
  return version;
}

/** As in Node, with `browser` for operating system and runtime, which pages do not learn reliably. */
export function clientVersion(): string {
  return `Evmint/v${version}/browser`;
}

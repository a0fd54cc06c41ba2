import { readFileSync } from "node:fs";
import { PACKAGE_ROOT } from "../../base/package-root.ts";

export function packageVersion(): string {
  const manifest = readFileSync(new URL("package.json", PACKAGE_ROOT), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

/** `Evmint/v0.1.0/linux-x64/node20.19.0`: client, version, operating system and runtime, as web3_clientVersion wants them. */
export function clientVersion(): string {
  const { platform, arch, versions } = process;
  return `Evmint/v${packageVersion()}/${platform}-${arch}/node${versions.node}`;
}

export const DEPLOY_FOLDER = new URL("deploy/", PACKAGE_ROOT);

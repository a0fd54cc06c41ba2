import { createRequire } from "node:module";

export type Viem = typeof import("viem") & typeof import("viem/accounts");

/** viem: loading it takes a fifth of a second. The build has it as a file beside the bundle. */
export function loadViem(): Viem {
  const load = createRequire(import.meta.url);
  const isSource = import.meta.url.endsWith(".ts");
  return (isSource ? { ...load("viem"), ...load("viem/accounts") } : load("./viem.cjs")) as Viem;
}

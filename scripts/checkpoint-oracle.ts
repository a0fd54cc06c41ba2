/**
 * Prints the entry of a genesis file's `alloc` that has the checkpoint oracle in block 0, the admins being the validators:
 *
 *     node --import tsx scripts/checkpoint-oracle.ts SECTION_SIZE CONFIRMATIONS ADMIN …
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Address, addressToBytes, parseAddress } from "../src/base/primitives/address.ts";
import { concatBytes, leftPad } from "../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, hashFromBytes } from "../src/base/primitives/hash.ts";
import { keccak256 } from "../src/base/primitives/keccak.ts";

export type OracleOptions = {
  readonly admins: readonly Address[];
  readonly sectionSize: number;
  readonly confirmations: number;
  /** Admins that have to sign a checkpoint; two thirds of them and one more unless given. */
  readonly threshold?: number;
};

/** Slots of `contracts/CheckpointOracle.sol`, in the order of its variables. */
const SLOT = { isAdmin: 0n, admins: 1n, sectionSize: 5n, confirmations: 6n, threshold: 7n };

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

/** The storage that the constructor leaves, for a genesis that has the contract in block 0. */
function oracleStorage(options: OracleOptions): ReadonlyMap<Hash, Hash> {
  const { admins, sectionSize, confirmations } = options;
  const threshold = options.threshold ?? Math.floor((2 * admins.length) / 3) + 1;
  const word = (value: number | bigint) => hashFromBigint(BigInt(value));
  const adminBytes = admins.map((admin) => leftPad(addressToBytes(admin), 32));
  const firstAdmin = BigInt(hashFromBytes(keccak256(slotBytes(SLOT.admins))));
  return new Map<Hash, Hash>([
    [word(SLOT.admins), word(admins.length)],
    [word(SLOT.sectionSize), word(sectionSize)],
    [word(SLOT.confirmations), word(confirmations)],
    [word(SLOT.threshold), word(threshold)],
    ...adminBytes.map((admin, i) => [word(firstAdmin + BigInt(i)), hashFromBytes(admin)] as const),
    ...adminBytes.map(
      (admin) => [hashFromBytes(keccak256(concatBytes(admin, slotBytes(SLOT.isAdmin)))), word(1)] as const,
    ),
  ]);
}

function slotBytes(slot: bigint): Uint8Array {
  return leftPad(Uint8Array.of(Number(slot)), 32);
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

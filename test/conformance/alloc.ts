import type { GenesisAccount, GenesisAlloc } from "../../src/base/params/genesis-account.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";

/** Accounts as vectors write them. */
export type JsonAlloc = Readonly<
  Record<
    string,
    {
      readonly balance: string;
      readonly nonce: string;
      readonly code: string;
      readonly storage: Readonly<Record<string, string>>;
    }
  >
>;

/** The accounts of a vector. */
export function allocFromJson(json: JsonAlloc): GenesisAlloc {
  return new Map(
    Object.entries(json).map(([address, { balance, nonce, code, storage }]) => {
      const slots = Object.entries(storage).map(
        ([slot, value]) => [hashFromBigint(numberOf(slot)), numberOf(value)] as const,
      );
      const account: GenesisAccount = {
        balance: numberOf(balance),
        nonce: numberOf(nonce),
        code: hexToBytes(code),
        storage: new Map(slots),
      };
      return [address.toLowerCase() as Address, account];
    }),
  );
}

/** A number as vectors write it, with leading zeros; `0x` is 0. */
export function numberOf(text: string): bigint {
  return text === "0x" ? 0n : BigInt(text);
}

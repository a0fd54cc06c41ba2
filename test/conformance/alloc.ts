import type { GenesisAccount, GenesisAlloc } from "../../src/base/params/genesis-account.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { hashFromBigint } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";

/** A number as vectors write it: hex or decimal text, or a JSON number. */
export type JsonNumber = string | number;

/** Accounts as vectors write them; those of `evm t8n` may lack what is empty. */
export type JsonAlloc = Readonly<
  Record<
    string,
    {
      readonly balance: JsonNumber;
      readonly nonce?: JsonNumber;
      readonly code?: string;
      readonly storage?: Readonly<Record<string, string>>;
    }
  >
>;

/** The accounts of a vector. */
export function allocFromJson(json: JsonAlloc): GenesisAlloc {
  return new Map(
    Object.entries(json).map(([address, { balance, nonce = 0, code = "0x", storage = {} }]) => {
      const slots = Object.entries(storage).map(
        ([slot, value]) => [hashFromBigint(numberOf(slot)), numberOf(value)] as const,
      );
      const account: GenesisAccount = {
        balance: numberOf(balance),
        nonce: numberOf(nonce),
        code: hexToBytes(code),
        storage: new Map(slots),
      };
      return [`0x${address.toLowerCase().replace(/^0x/, "")}` as Address, account];
    }),
  );
}

/** A number with leading zeros, or without digits: `0x` is 0. */
export function numberOf(text: JsonNumber): bigint {
  return text === "0x" ? 0n : BigInt(text);
}

import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** An account that exists in block 0. Balance in wei; Omitted fields are 0 or empty. */
export type GenesisAccount = {
  readonly balance: bigint;
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  readonly storage?: ReadonlyMap<Hash, bigint>;
};

/** The accounts that exist in block 0. */
export type GenesisAlloc = ReadonlyMap<Address, GenesisAccount>;

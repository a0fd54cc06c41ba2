import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** An account in block 0. Balance in wei; omitted fields are 0 or empty. */
export type GenesisAccount = {
  readonly balance: bigint;
  readonly nonce?: bigint;
  readonly code?: Uint8Array;
  readonly storage?: ReadonlyMap<Hash, bigint>;
};

/** The accounts in block 0. */
export type GenesisAlloc = ReadonlyMap<Address, GenesisAccount>;

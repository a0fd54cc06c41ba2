import type { BlockBuilder } from "../execution/build-block.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Header } from "../types/header.ts";

/** What a block's header gets from consensus and not from its transactions. */
export type BlockAttributes = {
  /** seconds; not before the parent's */
  readonly timestamp: number;
  readonly coinbase: Address;
  readonly prevRandao: Hash;
  readonly gasLimit: bigint;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  /** EIP-4788 */
  readonly parentBeaconBlockRoot: Hash;
};

/** Starts a block on `parent`, which must be the head. */
export type BeginBlock = (parent: Header, attributes: BlockAttributes) => BlockBuilder;

import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Hex } from "../primitives/hex.ts";

/**
 * A header of CometBFT, the signatures over it, and its validators, as JSON-RPC writes them: numbers are QUANTITY, the rest DATA. The app hash
 * of height N + 1 is the hash of block N. Source: CometBFT's light client specification.
 */
export type LightBlock = {
  readonly header: SignedHeader;
  readonly commit: {
    readonly height: Hex;
    readonly round: Hex;
    readonly blockId: BlockId;
    /** In the order of the validators; null of one that did not sign this header. */
    readonly signatures: readonly (CommitSignature | null)[];
  };
  readonly validators: readonly LightValidator[];
};

export type SignedHeader = {
  readonly version: { readonly block: Hex; readonly app: Hex };
  readonly chainId: string;
  readonly height: Hex;
  readonly time: LightTime;
  readonly lastBlockId: BlockId;
  readonly lastCommitHash: Hex;
  readonly dataHash: Hex;
  readonly validatorsHash: Hex;
  readonly nextValidatorsHash: Hex;
  readonly consensusHash: Hex;
  readonly appHash: Hash;
  readonly lastResultsHash: Hex;
  readonly evidenceHash: Hex;
  readonly proposerAddress: Address;
};

/** @property hash empty in the header of the first height */
export type BlockId = {
  readonly hash: Hex;
  readonly parts: { readonly total: Hex; readonly hash: Hex };
};

export type LightTime = { readonly seconds: Hex; readonly nanos: Hex };

export type CommitSignature = {
  readonly validator: Address;
  readonly time: LightTime;
  /** r ‖ s ‖ v with v 0 or 1, over keccak256 of the vote */
  readonly signature: Hex;
};

export type LightValidator = {
  readonly address: Address;
  /** secp256k1eth, 33 bytes, compressed */
  readonly publicKey: Hex;
  readonly power: Hex;
};

import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Hex } from "../../base/primitives/hex.ts";
import type { MaybePromise } from "../../base/threads/maybe-promise.ts";
import type { LightBlock } from "../../consensus/engine.ts";

/** The validator set and the votes about it. */
export interface ValidatorVoting {
  /** After block `number`, which must exist. */
  cliqueSnapshot(input: { readonly number: number }): MaybePromise<CliqueSnapshot>;
  /** The validator that proposed block `number`, which must exist. */
  cliqueSigner(input: { readonly number: number }): MaybePromise<Address>;
  /**
   * The header that commits to block `number`, which must exist, with its signatures; undefined until the next block is decided.
   * @throws NoSignaturesError on the solo engine, EngineRpcError
   */
  cliqueLightBlock(input: { readonly number: number }): MaybePromise<LightBlock | undefined>;
  cliqueStatus(): MaybePromise<CliqueStatus>;
  /** The votes this node casts: true adds a validator, false drops one. */
  cliqueProposals(): MaybePromise<Readonly<Record<Address, boolean>>>;
  /**
   * @param publicKey of the candidate, compressed or not; looked up when undefined
   * @throws UnknownPublicKeyError, WrongPublicKeyError, TooManyProposalsError
   */
  cliquePropose(input: {
    readonly candidate: Address;
    readonly authorize: boolean;
    readonly publicKey: Uint8Array | undefined;
  }): MaybePromise<void>;
  cliqueDiscard(input: { readonly candidate: Address }): MaybePromise<void>;
  /** After block `number`, which must exist. */
  cliqueParameters(input: { readonly number: number }): MaybePromise<CliqueParameters>;
  /** @throws ParameterRefusedError, TooManyParameterProposalsError */
  cliqueProposeParameter(input: { readonly name: string; readonly value: number }): MaybePromise<void>;
  cliqueDiscardParameter(input: { readonly name: string }): MaybePromise<void>;
}

/** As geth writes it: numbers are JSON numbers. */
export type CliqueSnapshot = {
  readonly number: number;
  readonly hash: Hash;
  readonly signers: Readonly<Record<Address, Readonly<Record<string, never>>>>;
  /** The first block that each signer added by this block helps to decide; null: the state before the block is pruned. Not in geth. */
  readonly activeFrom: Readonly<Record<Address, number>> | null;
  /** Proposers of the newest stored blocks, by number in decimal. */
  readonly recents: Readonly<Record<string, Address>>;
  readonly votes: readonly {
    readonly signer: Address;
    readonly block: number;
    readonly address: Address;
    readonly authorize: boolean;
    /** Of a candidate that is to be added, where it is known. Not in geth. */
    readonly publicKey?: Hex;
  }[];
  readonly tally: Readonly<Record<Address, { readonly authorize: boolean; readonly votes: number }>>;
};

/** Rules by name: forks as their fields in genesis files, in Unix seconds, and the parameters of `voting/parameters.ts` in their units. */
export type CliqueParameters = {
  readonly number: number;
  readonly hash: Hash;
  readonly agreed: Readonly<Record<string, number>>;
  /** Open ones. */
  readonly votes: readonly {
    readonly signer: Address;
    readonly block: number;
    readonly name: string;
    readonly value: number;
  }[];
  /** Rules for which the open votes have different values: only votes for the same value count together. */
  readonly differing: readonly string[];
  /** What this node votes for. */
  readonly proposals: Readonly<Record<string, number>>;
  /** The first agreed fork that this program cannot execute: it stops before it. */
  readonly unknownFork: { readonly name: string; readonly time: number } | null;
};

type CliqueStatus = {
  readonly inturnPercent: number;
  readonly numBlocks: number;
  readonly sealerActivity: Readonly<Record<Address, number>>;
  /** Validators that the application removed, with the block that did, also where they were voted in again. Not in geth. */
  readonly jailed: Readonly<Record<Address, number>>;
};

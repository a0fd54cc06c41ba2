import type { Address } from "../../base/primitives/address.ts";
import type { Hex } from "../../base/primitives/hex.ts";
import type { AbiItem } from "../../dev/artifacts/abi.ts";
import type { SolcInput } from "../../dev/artifacts/parse-artifact.ts";

/** Where the node has the name of a contract from. */
type ContractOrigin =
  /** This node's compiler makes the deployed code of the stored sources. */
  | "verified"
  /** An artifact of `--artifacts` has the deployed code; this node has not compiled its sources. */
  | "artifacts";

/** How deployed code relates to compiled code. */
export type ContractMatch =
  /** every byte but immutables and addresses of libraries */
  | "exact"
  /** all but the metadata at the end */
  | "same instructions";

/** The sources of a verified contract, as they were sent. */
type VerifiedSource = {
  /** solc's standard JSON */
  readonly input: SolcInput;
  /** of `input`, that declares the contract */
  readonly file: string;
  /** undefined: the creation was not found, or it is not that of these sources */
  readonly constructorArguments: Hex | undefined;
  readonly compilerVersion: string;
};

/** What the node knows of the code at an address. */
export type KnownContract = {
  readonly address: Address;
  readonly name: string;
  readonly origin: ContractOrigin;
  readonly match: ContractMatch;
  readonly abi: readonly AbiItem[];
  /** of the compiler; undefined for artifacts, which do not say it */
  readonly compilerVersion: string | undefined;
  /** Texts by path, the one that declares the contract first; empty unless they were requested. */
  readonly sources: Readonly<Record<string, string>>;
  /** Absent for artifacts, and unless sources were requested. */
  readonly verified?: VerifiedSource | undefined;
};

export type FoundContract = Pick<KnownContract, "address" | "name" | "origin">;

/** Sources that allegedly belong to the contract at `address`. */
export type VerificationRequest = {
  readonly address: Address;
  readonly input: SolcInput;
  /** `path:Name`, or `Name` if only one file declares it */
  readonly contract: string;
  /** `0.8.30+commit.73712a01`, with or without `v` and platform */
  readonly compilerVersion: string;
  /** ABI-encoded; undefined: not said */
  readonly constructorArguments: Hex | undefined;
};

export type Verification =
  | { readonly kind: "pending" }
  | { readonly kind: "verified"; readonly match: ContractMatch }
  | { readonly kind: "failed"; readonly reason: string };

/** Names, ABIs and sources of contracts. Plain data only. */
export interface ContractsPort {
  /** Of the code at each address in the newest state; undefined where the node does not know it. */
  known(input: {
    readonly addresses: readonly Address[];
    readonly withSources: boolean;
  }): Promise<readonly (KnownContract | undefined)[]>;
  /** Contracts by the beginning of their name in any letter case; those with the whole name first. */
  find(input: { readonly name: string; readonly countMax: number }): Promise<readonly FoundContract[]>;
  /**
   * Begins to compile the sources and to compare; the id of what `verification` answers.
   * @throws ContractVerificationError for faults found before compiling, CompilerBusyError
   */
  verify(input: VerificationRequest): Promise<{ readonly id: string }>;
  /** undefined: no such one, or it was long ago */
  verification(input: { readonly id: string }): Promise<Verification | undefined>;
}

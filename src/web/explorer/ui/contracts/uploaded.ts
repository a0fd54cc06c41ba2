import type { AbiItem } from "../../../../dev/artifacts/abi.ts";
import type { CodeMatch, Sources } from "../../contracts/artifact.ts";
import { readStored, writeStored } from "../stored.ts";

/** A contract with an ABI that the user uploaded. It stays in this browser. */
export type UploadedContractHere = {
  /** lower case */
  readonly address: string;
  readonly name: string;
  readonly abi: readonly AbiItem[];
  /** match of the uploaded code */
  readonly match: CodeMatch;
  /** match of the code that the node compiles from the sources; undefined without sources or a compiler */
  readonly recompiled: Recompiled | undefined;
  readonly sources: Sources;
};

export type Recompiled = {
  readonly match: CodeMatch;
  /** its version */
  readonly compiler: string;
};

const KEY = "contracts";

let read: readonly UploadedContractHere[] | undefined;

export function uploadedContracts(): readonly UploadedContractHere[] {
  read ??= readStored<UploadedContractHere[]>(KEY) ?? [];
  return read;
}

export function uploadedAt(address: string): UploadedContractHere | undefined {
  return uploadedContracts().find((contract) => contract.address === address.toLowerCase());
}

/** Adds `contract`, replacing one at the same address. */
export function storeContract(contract: UploadedContractHere): void {
  const others = uploadedContracts().filter(({ address }) => address !== contract.address);
  read = [contract, ...others];
  writeStored(KEY, read);
}

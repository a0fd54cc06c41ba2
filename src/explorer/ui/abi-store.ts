import type { AbiItem } from "../../dev/artifacts/abi.ts";
import type { Sources } from "../contracts/artifact.ts";
import type { CodeMatch } from "../contracts/compare-code.ts";
import { readStored, writeStored } from "./stored.ts";

/** A contract whose ABI the user has uploaded. It stays in this browser. */
export type KnownContract = {
  /** lower case */
  readonly address: string;
  readonly name: string;
  readonly abi: readonly AbiItem[];
  /** of the uploaded code */
  readonly match: CodeMatch;
  /** of the code that the node's compiler makes of the sources; undefined where there are none, or it has no compiler */
  readonly recompiled: Recompiled | undefined;
  readonly sources: Sources;
};

export type Recompiled = {
  readonly match: CodeMatch;
  /** its version */
  readonly compiler: string;
};

const KEY = "contracts";

export function knownContracts(): readonly KnownContract[] {
  return readStored<KnownContract[]>(KEY) ?? [];
}

export function contractAt(address: string): KnownContract | undefined {
  return knownContracts().find((contract) => contract.address === address.toLowerCase());
}

export function contractNamed(name: string): KnownContract | undefined {
  return knownContracts().find((contract) => contract.name.toLowerCase() === name.toLowerCase());
}

/** Adds `contract`, in the place of another one at its address. */
export function storeContract(contract: KnownContract): void {
  const others = knownContracts().filter(({ address }) => address !== contract.address);
  writeStored(KEY, [contract, ...others]);
}

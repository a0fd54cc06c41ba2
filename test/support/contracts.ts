import { readFileSync } from "node:fs";
import type { Abi } from "viem";

export type ContractArtifact = {
  readonly abi: Abi;
  readonly bytecode: `0x${string}`;
  readonly runtime: `0x${string}`;
};

/** A contract of `test/contracts/`, compiled by `scripts/compile-contracts.ts`. */
export function contract(name: string): ContractArtifact {
  const file = new URL(`../contracts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as ContractArtifact;
}

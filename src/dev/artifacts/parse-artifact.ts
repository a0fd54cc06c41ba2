import { hexToBytes, isData } from "../../primitives/hex.ts";
import type { AbiItem } from "./abi.ts";
import type { CompiledCode, Contract } from "./contracts.ts";
import type { SourceMap } from "./source-map.ts";

export type Json = Readonly<Record<string, unknown>>;

type Immutables = Readonly<
  Record<string, readonly { readonly start: number; readonly length: number }[]>
>;

type SolcCode = {
  readonly object?: string;
  readonly sourceMap?: string;
  readonly immutableReferences?: Immutables;
};

type SolcContract = {
  readonly abi?: readonly AbiItem[];
  readonly evm?: { readonly bytecode?: SolcCode; readonly deployedBytecode?: SolcCode };
};

/** solc's standard JSON. */
export type SolcInput = {
  readonly sources?: Readonly<Record<string, { readonly content?: string }>>;
};
export type SolcOutput = {
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolcContract>>>>;
  readonly sources?: Readonly<Record<string, { readonly id: number }>>;
};

/** `out/X.sol/X.json` of Foundry. */
export type FoundryArtifact = {
  readonly abi: readonly AbiItem[];
  readonly bytecode: SolcCode;
  readonly deployedBytecode: SolcCode;
  readonly id?: number;
  readonly metadata?: {
    readonly settings?: { readonly compilationTarget?: Readonly<Record<string, string>> };
  };
};

/** `artifacts/contracts/X.sol/X.json` of Hardhat, whose source maps are in its build-info. */
export type HardhatArtifact = {
  readonly contractName: string;
  readonly abi: readonly AbiItem[];
  readonly bytecode: string;
  readonly deployedBytecode: string;
  readonly immutableReferences?: Immutables;
};

/** The contracts of one run of solc. */
export function contractsOfBuild(input: SolcInput, output: SolcOutput): readonly Contract[] {
  const paths = new Map(Object.entries(output.sources ?? {}).map(([path, { id }]) => [id, path]));
  const source = (index: number) => {
    const path = paths.get(index);
    const text = path === undefined ? undefined : input.sources?.[path]?.content;
    // Hardhat 3 puts `project/` before the sources of the project itself.
    return path === undefined || text === undefined
      ? undefined
      : { path: path.replace(/^project\//, ""), text };
  };
  return Object.values(output.contracts ?? {}).flatMap((byName) =>
    Object.entries(byName).map(([name, { abi = [], evm }]) => ({
      ...{ name, abi },
      creation: compiledCode(evm?.bytecode ?? {}, source),
      runtime: compiledCode(evm?.deployedBytecode ?? {}, source),
    })),
  );
}

/** The code in an artifact; empty bytes where a library is not linked. */
export function compiledCode(
  { object = "", sourceMap, immutableReferences = {} }: SolcCode,
  source: SourceMap["source"],
): CompiledCode {
  const hex = object.startsWith("0x") ? object : `0x${object}`;
  return {
    // Code with an unlinked library has `__$…$__` in it.
    bytes: isData(hex) ? hexToBytes(hex) : new Uint8Array(0),
    immutables: Object.values(immutableReferences)
      .flat()
      .map(({ start, length }) => [start, length] as const),
    sourceMap: sourceMap ? { text: sourceMap, source } : undefined,
  };
}

export function isFoundry(json: Json | undefined): boolean {
  const { abi, bytecode } = json ?? {};
  return Array.isArray(abi) && typeof bytecode === "object" && bytecode !== null;
}

export function isHardhat(json: Json | undefined): json is Json & HardhatArtifact {
  const { abi, bytecode, contractName } = json ?? {};
  return Array.isArray(abi) && typeof bytecode === "string" && typeof contractName === "string";
}

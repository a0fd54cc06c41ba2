import { hexToBytes, isData } from "../../primitives/hex.ts";
import type { AbiItem } from "./abi.ts";
import type { CompiledCode, Contract, SourceMap, SourceTexts } from "./contracts.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Ranges by what is written there: the id of an immutable, or the name of a library. */
type Ranges = Readonly<Record<string, readonly { readonly start: number; readonly length: number }[]>>;
/** Ranges of addresses of libraries by file. */
type Links = Readonly<Record<string, Ranges>>;

type SolcCode = {
  readonly object?: string;
  readonly sourceMap?: string;
  readonly immutableReferences?: Ranges | undefined;
  readonly linkReferences?: Links | undefined;
};

type SolcContract = {
  readonly abi?: readonly AbiItem[];
  readonly evm?: { readonly bytecode?: SolcCode; readonly deployedBytecode?: SolcCode };
};

/** solc's standard JSON. */
export type SolcInput = {
  readonly language?: string;
  readonly settings?: object;
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
    readonly sources?: Readonly<Record<string, { readonly keccak256?: string }>>;
  };
};

/** `artifacts/contracts/X.sol/X.json` of Hardhat, whose source maps are in its build-info. */
type HardhatArtifact = {
  readonly contractName: string;
  readonly abi: readonly AbiItem[];
  readonly bytecode: string;
  readonly deployedBytecode: string;
  readonly immutableReferences?: Ranges;
  readonly linkReferences?: Links;
  readonly deployedLinkReferences?: Links;
};

/** The contracts of one run of solc. */
export function contractsOfBuild(input: SolcInput, output: SolcOutput): readonly Contract[] {
  const paths = new Map(Object.entries(output.sources ?? {}).map(([path, { id }]) => [id, path]));
  const source = (index: number) => {
    const path = paths.get(index);
    const text = path === undefined ? undefined : input.sources?.[path]?.content;
    // Hardhat 3 puts `project/` before the sources of the project itself.
    return path === undefined || text === undefined ? undefined : { path: path.replace(/^project\//, ""), text };
  };
  return Object.entries(output.contracts ?? {}).flatMap(([file, byName]) =>
    Object.entries(byName).map(([name, { abi = [], evm }]) => ({
      name,
      abi,
      creation: compiledCode(evm?.bytecode ?? {}, source),
      runtime: compiledCode(evm?.deployedBytecode ?? {}, source),
      ...(input.sources && { sources: () => textsOf(input, file) }),
    })),
  );
}

/** Texts in `input` by path, that of `file` first. */
export function textsOf({ sources = {} }: SolcInput, file: string): SourceTexts {
  const paths = Object.keys(sources);
  const ordered = [...paths.filter((path) => path === file), ...paths.filter((path) => path !== file)];
  return Object.fromEntries(
    ordered.flatMap((path) => {
      const text = sources[path]?.content;
      return text === undefined ? [] : [[path, text] as const];
    }),
  );
}

/** In place of the address of a library: `__$…$__`, before solc 0.5 `__Name____`. */
const UNLINKED = /__.{38}/g;
/** A library compares its own address with the one at its first instruction, so that it is not called directly. */
const CALL_PROTECTION = /^0x730{40}3014/;

const NO_SOURCE = () => undefined;

/** The contract of an artifact of Foundry. @param fallbackName where its metadata does not name it */
export function contractOfFoundry(
  { abi, bytecode, deployedBytecode, metadata }: FoundryArtifact,
  fallbackName: string,
  source: SourceMap["source"] = NO_SOURCE,
): Contract {
  return {
    name: Object.values(metadata?.settings?.compilationTarget ?? {})[0] ?? fallbackName,
    abi,
    creation: compiledCode(bytecode, source),
    runtime: compiledCode(deployedBytecode, source),
  };
}

/** The contract of an artifact of Hardhat, without source maps. */
export function contractOfHardhat(artifact: HardhatArtifact): Contract {
  const { contractName: name, abi, bytecode, deployedBytecode: object } = artifact;
  const { immutableReferences, linkReferences, deployedLinkReferences } = artifact;
  const runtime = { object, immutableReferences, linkReferences: deployedLinkReferences };
  return {
    name,
    abi,
    creation: compiledCode({ object: bytecode, linkReferences }, NO_SOURCE),
    runtime: compiledCode(runtime, NO_SOURCE),
  };
}

/** The code in an artifact. */
function compiledCode(
  { object = "", sourceMap, immutableReferences = {}, linkReferences = {} }: SolcCode,
  source: SourceMap["source"],
): CompiledCode {
  const linked = object.replace(UNLINKED, "0".repeat(40));
  const hex = linked.startsWith("0x") ? linked : `0x${linked}`;
  return {
    bytes: isData(hex) ? hexToBytes(hex) : new Uint8Array(0),
    placeholders: [
      ...[immutableReferences, ...Object.values(linkReferences)]
        .flatMap((ranges) => Object.values(ranges).flat())
        .map(({ start, length }) => [start, length] as const),
      ...(CALL_PROTECTION.test(hex) ? [[1, 20] as const] : []),
    ],
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

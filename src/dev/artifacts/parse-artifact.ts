import { NodeError } from "../../base/errors.ts";
import { hexToBytes, isData } from "../../base/primitives/hex.ts";
import {
  type JsonObject,
  listOf,
  members,
  optional,
  recordOf,
  type Shape,
  text,
  whole,
} from "../../base/primitives/shape.ts";
import type { AbiItem } from "./abi.ts";
import type { CompiledCode, Contract, SourceMap, SourceTexts } from "./contracts.ts";

/** Ranges by the id of the immutable or the name of the library written there. */
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

/** Stands for the address of a library: `__$…$__`, before solc 0.5 `__Name____`. */
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
  const bytes = isData(hex) ? hexToBytes(hex) : new Uint8Array(0);
  const ranges = [immutableReferences, ...Object.values(linkReferences)].flatMap((each) => Object.values(each).flat());
  // Every comparison with deployed code fills them.
  const filled = ranges.reduce((sum, { length }) => sum + length, ranges.length);
  if (bytes.length > 0 && filled > 2 * bytes.length) {
    throw new MalformedArtifactError("there are more immutables and libraries than code");
  }
  return {
    bytes,
    placeholders: [
      ...ranges.map(({ start, length }) => [start, length] as const),
      ...(CALL_PROTECTION.test(hex) ? [[1, 20] as const] : []),
    ],
    sourceMap: sourceMap ? { text: sourceMap, source } : undefined,
  };
}

/** A file looks like an artifact and does not have the shape of one. */
export class MalformedArtifactError extends NodeError {
  readonly code = "ARTIFACT_MALFORMED";
}

/** A file of artifacts, by who wrote it. */
export type Artifact =
  | { readonly kind: "foundry"; readonly artifact: FoundryArtifact }
  | { readonly kind: "hardhat"; readonly artifact: HardhatArtifact }
  /** Input and output of solc; Hardhat 3 has the input in another file. */
  | { readonly kind: "build"; readonly input: SolcInput | undefined; readonly output: SolcOutput };

/**
 * The artifact that `json` is, whatever it came from; undefined where it looks like none.
 * @throws MalformedArtifactError with the place
 */
export function decodeArtifact(json: unknown): Artifact | undefined {
  const { abi, bytecode, deployedBytecode, contractName, output, input } = Object(json) as JsonObject;
  if (Object(output).contracts !== undefined) {
    assertShape(output, OUTPUT, "output");
    return { kind: "build", input: input === undefined ? undefined : decodeInput(input), output: output as SolcOutput };
  }
  if (!Array.isArray(abi)) return undefined;
  if (typeof contractName === "string" && (bytecode !== undefined || deployedBytecode !== undefined)) {
    assertShape(json, HARDHAT, "artifact");
    return { kind: "hardhat", artifact: json as HardhatArtifact };
  }
  if (bytecode === undefined || typeof bytecode === "string") return undefined;
  assertShape(json, FOUNDRY, "artifact");
  return { kind: "foundry", artifact: json as FoundryArtifact };
}

/** The input of a build-info. @throws MalformedArtifactError */
export function decodeInput(input: unknown): SolcInput {
  assertShape(input, INPUT, "input");
  return input as SolcInput;
}

/** The ABI and the runtime code of a contract, as solc has them. @throws MalformedArtifactError */
export function decodeContract(contract: unknown): SolcContract {
  assertShape(contract, CONTRACT, "contract");
  return contract as SolcContract;
}

/** @throws MalformedArtifactError @param place where the value is */
function assertShape(value: unknown, shape: Shape, place: string): void {
  const fault = shape(value);
  if (fault !== undefined) throw new MalformedArtifactError(`${place} ${fault}`.slice(0, 200));
}

/** Tuples in tuples of a parameter: structures of real contracts have a few. */
const TUPLE_DEPTH_MAX = 32;

function parameter(depth: number): Shape {
  return (value) => {
    if (depth > TUPLE_DEPTH_MAX) return "is too deep";
    return members({ type: text, name: optional(text), components: optional(listOf(parameter(depth + 1))) })(value);
  };
}

const PARAMETERS = optional(listOf(parameter(0)));
const ABI = listOf(members({ type: text, name: optional(text), inputs: PARAMETERS, outputs: PARAMETERS }));
const RANGES = optional(recordOf(listOf(members({ start: whole, length: whole }))));
const LINKS = optional(recordOf(RANGES));
const CODE: Shape = members({
  object: optional(text),
  sourceMap: optional(text),
  immutableReferences: RANGES,
  linkReferences: LINKS,
});
const CONTRACT: Shape = members({
  abi: optional(ABI),
  evm: optional(members({ bytecode: optional(CODE), deployedBytecode: optional(CODE) })),
});
const OUTPUT = members({
  contracts: recordOf(recordOf(CONTRACT)),
  sources: optional(recordOf(members({ id: whole }))),
});
const INPUT = members({ sources: optional(recordOf(members({ content: optional(text) }))) });
const FOUNDRY = members({
  abi: ABI,
  bytecode: CODE,
  deployedBytecode: CODE,
  id: optional(whole),
  metadata: optional(
    members({
      settings: optional(members({ compilationTarget: optional(recordOf(text)) })),
      sources: optional(recordOf(members({ keccak256: optional(text) }))),
    }),
  ),
});
const HARDHAT = members({
  abi: ABI,
  contractName: text,
  bytecode: text,
  deployedBytecode: text,
  immutableReferences: RANGES,
  linkReferences: LINKS,
  deployedLinkReferences: LINKS,
});

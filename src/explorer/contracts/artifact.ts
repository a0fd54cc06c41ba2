import type { AbiItem } from "../../dev/artifacts/abi.ts";
import type { CompiledCode } from "../../dev/artifacts/contracts.ts";
import {
  contractOfFoundry,
  contractOfHardhat,
  contractsOfBuild,
  type FoundryArtifact,
  isFoundry,
  isHardhat,
  type Json,
  type SolcInput,
  type SolcOutput,
} from "../../dev/artifacts/parse-artifact.ts";

/** A contract as an uploaded file has it. */
export type UploadedContract = {
  readonly name: string;
  readonly abi: readonly AbiItem[];
  /** empty where the file has an ABI alone */
  readonly runtime: CompiledCode;
};

/** Texts of sources by path. */
export type Sources = Readonly<Record<string, string>>;

/** What an uploaded file has of contracts. */
export type Upload = {
  readonly contracts: readonly UploadedContract[];
  /** solc's standard JSON input, to compile again */
  readonly input: SolcInput | undefined;
};

/**
 * The contracts in an artifact of Foundry or Hardhat, in solc's standard JSON output (bare or inside a build-info), or a bare ABI; and
 * the standard JSON input, bare or inside a build-info.
 * @param fileName names the contract where the file does not
 * @throws SyntaxError where the text is not JSON
 */
export function readUpload(text: string, fileName: string): Upload {
  const json = JSON.parse(text) as Json | readonly AbiItem[];
  return Array.isArray(json)
    ? { contracts: [bareAbi(json, fileName)], input: undefined }
    : { contracts: contractsIn(json as Json, fileName), input: inputIn(json as Json) };
}

function contractsIn(artifact: Json, fileName: string): readonly UploadedContract[] {
  const output = (artifact["output"] ?? artifact) as SolcOutput;
  if (output.contracts !== undefined) return contractsOfBuild({}, output);
  if (isHardhat(artifact)) return [contractOfHardhat(artifact)];
  if (isFoundry(artifact)) {
    return [contractOfFoundry(artifact as unknown as FoundryArtifact, nameOf(fileName))];
  }
  const { abi } = artifact;
  return Array.isArray(abi) ? [bareAbi(abi as readonly AbiItem[], fileName)] : [];
}

function inputIn(json: Json): SolcInput | undefined {
  const input = (json["input"] ?? json) as SolcInput;
  return input.language !== undefined && input.sources !== undefined ? input : undefined;
}

function bareAbi(abi: readonly AbiItem[], fileName: string): UploadedContract {
  const runtime = { bytes: new Uint8Array(0), placeholders: [], sourceMap: undefined };
  return { name: nameOf(fileName), abi, runtime };
}

function nameOf(fileName: string): string {
  return fileName.replace(/\.json$/, "");
}

/** Sources whose text is in `input`, the one that declares `contract` first. */
export function sourcesOf({ sources = {} }: SolcInput, contract: string): Sources {
  const declarations = [`contract ${contract}`, `library ${contract}`];
  const texts = Object.entries(sources).flatMap(([path, { content }]) =>
    content === undefined ? [] : [[path, content] as const],
  );
  const own = texts.filter(([, text]) => declarations.some((each) => text.includes(each)));
  return Object.fromEntries([...own, ...texts]);
}

import { equalBytes } from "../../../base/primitives/bytes.ts";
import type { JsonObject } from "../../../base/primitives/shape.ts";
import type { AbiItem } from "../../../dev/artifacts/abi.ts";
import { type CompiledCode, withPlaceholders } from "../../../dev/artifacts/contracts.ts";
import {
  contractOfFoundry,
  contractOfHardhat,
  contractsOfBuild,
  decodeArtifact,
  type SolcInput,
} from "../../../dev/artifacts/parse-artifact.ts";

/** A contract in an uploaded file. */
export type UploadedContract = {
  readonly name: string;
  readonly abi: readonly AbiItem[];
  /** empty if the file has only an ABI */
  readonly runtime: CompiledCode;
};

/** Source texts by path. */
export type Sources = Readonly<Record<string, string>>;

/** The contracts of an uploaded file. */
export type Upload = {
  readonly contracts: readonly UploadedContract[];
  /** solc's standard JSON input, to compile again */
  readonly input: SolcInput | undefined;
};

/**
 * Reads the contracts in an artifact of Foundry or Hardhat, in solc's standard JSON output (bare or inside a build-info), or in a bare ABI; also
 * the standard JSON input, bare or inside a build-info.
 * @param fileName names the contract if the file does not
 * @throws SyntaxError if the text is not JSON, MalformedArtifactError
 */
export function readUpload(text: string, fileName: string): Upload {
  const json = JSON.parse(text) as JsonObject | readonly AbiItem[];
  return Array.isArray(json)
    ? { contracts: [bareAbi(json, fileName)], input: undefined }
    : { contracts: contractsIn(json as JsonObject, fileName), input: inputIn(json as JsonObject) };
}

function contractsIn(artifact: JsonObject, fileName: string): readonly UploadedContract[] {
  const { abi, contracts } = artifact;
  const decoded = decodeArtifact(contracts === undefined ? artifact : { output: artifact });
  if (decoded?.kind === "build") return contractsOfBuild({}, decoded.output);
  if (decoded?.kind === "hardhat") return [contractOfHardhat(decoded.artifact)];
  if (decoded?.kind === "foundry") return [contractOfFoundry(decoded.artifact, nameOf(fileName))];
  return Array.isArray(abi) ? [bareAbi(abi as readonly AbiItem[], fileName)] : [];
}

function inputIn(json: JsonObject): SolcInput | undefined {
  const { language, sources, settings } = (json["input"] ?? json) as SolcInput;
  if (language === undefined || sources === undefined) return undefined;
  // Foundry's build-info adds other options, which solc rejects.
  return { language, sources, ...(settings && { settings }) };
}

function bareAbi(abi: readonly AbiItem[], fileName: string): UploadedContract {
  const runtime = { bytes: new Uint8Array(0), placeholders: [], sourceMap: undefined };
  return { name: nameOf(fileName), abi, runtime };
}

function nameOf(fileName: string): string {
  return fileName.replace(/\.json$/, "");
}

/** Sources with text in `input`, the one that declares `contract` first. */
export function sourcesOf({ sources = {} }: SolcInput, contract: string): Sources {
  const declarations = [`contract ${contract}`, `library ${contract}`];
  const texts = Object.entries(sources).flatMap(([path, { content }]) =>
    content === undefined ? [] : [[path, content] as const],
  );
  const own = texts.filter(([, text]) => declarations.some((each) => text.includes(each)));
  return Object.fromEntries([...own, ...texts]);
}

/** How deployed code relates to compiled code. */
export type CodeMatch =
  /** all bytes except immutables and library addresses */
  | "exact"
  /** all bytes except the metadata at the end: other comments, file names or settings */
  | "same instructions"
  | "different"
  /** the artifact has no code: an interface, or an ABI */
  | "no code";

/** Compares `deployed` with the compiler's output. */
export function compareCode(deployed: Uint8Array, compiled: CompiledCode): CodeMatch {
  const { bytes } = compiled;
  if (bytes.length === 0) return "no code";
  const comparable = withPlaceholders(deployed, compiled);
  if (equalBytes(comparable, bytes)) return "exact";
  const ours = withoutMetadata(comparable);
  const theirs = withoutMetadata(bytes);
  const isShortened = ours.length < comparable.length && theirs.length < bytes.length;
  return isShortened && equalBytes(ours, theirs) ? "same instructions" : "different";
}

/** A CBOR map of up to 23 pairs, the form of solc's metadata. */
const isMap = (byte: number | undefined) => byte !== undefined && byte >= 0xa1 && byte <= 0xb7;

/** `code` without the CBOR map that solc appends, whose length is in the last two bytes; `code` itself if it has none. */
function withoutMetadata(code: Uint8Array): Uint8Array {
  const { length } = code;
  if (length < 2) return code;
  const start = length - 2 - (code[length - 2]! * 256 + code[length - 1]!);
  return start >= 0 && isMap(code[start]) ? code.subarray(0, start) : code;
}

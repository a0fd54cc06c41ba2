import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bytesToHex } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import type { SourceMap, SourceTexts } from "./contracts.ts";
import { Contracts } from "./contracts.ts";
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
} from "./parse-artifact.ts";

/** Larger ones are no artifacts: a build-info of a large project has some 50 MB. */
const FILE_BYTES_MAX = 256 << 20;

/**
 * The contracts of a folder that Foundry (`out`) or Hardhat (`artifacts`, with its build-info) wrote. Files that hold something else are
 * passed over.
 * @throws what the file system throws for `directory`
 */
export function readArtifacts(directory: string): Contracts {
  const contracts = new Contracts();
  const files = jsonFiles(directory).map((file) => ({ file, json: readJson(file) }));
  const foundry = files.filter(({ json }) => isFoundry(json)) as unknown as readonly {
    readonly file: string;
    readonly json: FoundryArtifact;
  }[];
  const sources = foundrySources(
    directory,
    foundry.map(({ json }) => json),
  );
  for (const { file, json } of foundry) {
    const contract = contractOfFoundry(json, basename(file, ".json"), sources);
    contracts.add({ ...contract, sources: () => foundryTexts(directory, json) });
  }
  const built = new Set<string>();
  for (const { file, json } of files) {
    const output = json?.["output"] as SolcOutput | undefined;
    if (output?.contracts === undefined) continue;
    // Hardhat 3 has input and output in two files.
    const input = json?.["input"] ?? readJson(file.replace(/\.output\.json$/, ".json"))?.["input"];
    for (const contract of contractsOfBuild((input ?? {}) as SolcInput, output)) {
      built.add(contract.name);
      contracts.add(contract);
    }
  }
  for (const { json } of files) {
    if (isHardhat(json) && !built.has(json.contractName)) contracts.add(contractOfHardhat(json));
  }
  return contracts;
}

/** Foundry's artifacts name their source and its number; the texts are in the project, above the folder of artifacts. */
function foundrySources(directory: string, artifacts: readonly FoundryArtifact[]): SourceMap["source"] {
  const paths = new Map<number, string>();
  for (const { id, metadata } of artifacts) {
    const path = Object.keys(metadata?.settings?.compilationTarget ?? {})[0];
    if (id !== undefined && path !== undefined) paths.set(id, path);
  }
  const texts = new Map<string, string | undefined>();
  return (index) => {
    const path = paths.get(index);
    if (path === undefined) return undefined;
    if (!texts.has(path)) texts.set(path, readText(join(dirname(directory), path)));
    const text = texts.get(path);
    return text === undefined ? undefined : { path, text };
  };
}

/**
 * Texts of the sources that the artifact was compiled from, those that are in the project as they were then: whoever reads them sees what the code
 * was made of, and no other file is shown whatever path an artifact names.
 */
function foundryTexts(directory: string, { metadata }: FoundryArtifact): SourceTexts {
  const target = Object.keys(metadata?.settings?.compilationTarget ?? {})[0];
  const sources = Object.entries(metadata?.sources ?? {});
  const ordered = [...sources.filter(([path]) => path === target), ...sources.filter(([path]) => path !== target)];
  return Object.fromEntries(
    ordered.flatMap(([path, { keccak256: expected }]) => {
      const text = readText(join(dirname(directory), path));
      const isSame = text !== undefined && bytesToHex(keccak256(Buffer.from(text))) === expected;
      return isSame ? [[path, text] as const] : [];
    }),
  );
}

function jsonFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry: Dirent) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry: Dirent) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function readJson(file: string): Json | undefined {
  const text = readText(file);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readText(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    return text.length > FILE_BYTES_MAX ? undefined : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

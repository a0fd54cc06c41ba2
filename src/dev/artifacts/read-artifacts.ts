import { type Dirent, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import type { JsonObject } from "../../base/primitives/shape.ts";
import { type FileBounds, readJsonFile, readTextFile } from "../../store/storage/read-file.ts";
import type { SourceMap, SourceTexts } from "./contracts.ts";
import { Contracts } from "./contracts.ts";
import {
  contractOfFoundry,
  contractOfHardhat,
  contractsOfBuild,
  decodeArtifact,
  decodeInput,
  type FoundryArtifact,
} from "./parse-artifact.ts";

/** Larger files are not artifacts: the build-info of a large project has about 50 MB. */
const BOUNDS: FileBounds = { bytesMax: 128 << 20 };

/** Called with a file that is passed over, and why. */
type OnPassedOver = (file: string, reason: string) => void;

/**
 * The contracts of a folder that Foundry (`out`) or Hardhat (`artifacts`, with its build-info) wrote. Files that hold something else are
 * passed over; `onPassedOver` is called for those that cannot be read, or look like an artifact and are not of its shape.
 * @throws file system errors for `directory`
 */
export function readArtifacts(directory: string, onPassedOver: OnPassedOver): Contracts {
  const contracts = new Contracts();
  /** What `read` returns of `file`; undefined for a file that is passed over. */
  const ofFile = <T>(file: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      onPassedOver(file, (error as Error).message);
      return undefined;
    }
  };
  const files = jsonFiles(directory).flatMap((file) => {
    const artifact = ofFile(file, () => decodeArtifact(readJsonFile(file, BOUNDS)));
    return artifact === undefined ? [] : [{ file, ...artifact }];
  });
  const foundry = files.flatMap((each) => (each.kind === "foundry" ? [each] : []));
  const sources = foundrySources(
    directory,
    foundry.map(({ artifact }) => artifact),
  );
  for (const { file, artifact } of foundry) {
    const contract = ofFile(file, () => contractOfFoundry(artifact, basename(file, ".json"), sources));
    if (contract !== undefined) contracts.add({ ...contract, sources: () => foundryTexts(directory, artifact) });
  }
  const built = new Set<string>();
  for (const each of files) {
    if (each.kind !== "build") continue;
    const { file, output } = each;
    // Hardhat 3 has input and output in two files.
    const inputFile = file.replace(/\.output\.json$/, ".json");
    const readInput = () => decodeInput((Object(readJsonFile(inputFile, BOUNDS)) as JsonObject)["input"] ?? {});
    const input = each.input ?? (inputFile === file ? {} : (ofFile(inputFile, readInput) ?? {}));
    for (const contract of ofFile(file, () => contractsOfBuild(input, output)) ?? []) {
      built.add(contract.name);
      contracts.add(contract);
    }
  }
  for (const each of files) {
    if (each.kind !== "hardhat" || built.has(each.artifact.contractName)) continue;
    const contract = ofFile(each.file, () => contractOfHardhat(each.artifact));
    if (contract !== undefined) contracts.add(contract);
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
 * Texts of the artifact's sources that are unchanged in the project since it was compiled. So a reader sees only what the code was
 * compiled from, and no other file, whatever paths an artifact names.
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

/** undefined if there is no readable one. */
function readText(file: string): string | undefined {
  try {
    return readTextFile(file, BOUNDS);
  } catch {
    return undefined;
  }
}

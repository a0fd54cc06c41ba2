import type { AbiItem } from "../../dev/artifacts/abi.ts";
import type { CompiledCode } from "../../dev/artifacts/contracts.ts";
import {
  compiledCode,
  contractsOfBuild,
  type FoundryArtifact,
  isFoundry,
  isHardhat,
  type Json,
  type SolcOutput,
} from "../../dev/artifacts/parse-artifact.ts";

/** A contract as an uploaded file has it. */
export type UploadedContract = {
  readonly name: string;
  readonly abi: readonly AbiItem[];
  /** empty where the file has an ABI alone */
  readonly runtime: CompiledCode;
};

/**
 * The contracts in an artifact of Foundry or Hardhat, in solc's standard JSON output (bare or inside Hardhat's build-info), or
 * a bare ABI.
 * @param fileName names the contract where the file does not
 * @throws SyntaxError where the text is not JSON
 */
export function contractsIn(text: string, fileName: string): readonly UploadedContract[] {
  const json = JSON.parse(text) as Json | readonly AbiItem[];
  const name = fileName.replace(/\.json$/, "");
  const noCode: CompiledCode = { bytes: new Uint8Array(0), immutables: [], sourceMap: undefined };
  if (Array.isArray(json)) return [{ name, abi: json, runtime: noCode }];
  const artifact = json as Json;
  const output = (artifact["output"] ?? artifact) as SolcOutput;
  if (output.contracts !== undefined) return contractsOfBuild({}, output);
  if (isHardhat(artifact)) {
    const { contractName, abi, deployedBytecode: object, immutableReferences } = artifact;
    const code = { object, ...(immutableReferences && { immutableReferences }) };
    return [{ name: contractName, abi, runtime: compiledCode(code, () => undefined) }];
  }
  if (isFoundry(artifact)) {
    const { abi, deployedBytecode, metadata } = artifact as unknown as FoundryArtifact;
    const target = Object.values(metadata?.settings?.compilationTarget ?? {})[0];
    return [
      { name: target ?? name, abi, runtime: compiledCode(deployedBytecode, () => undefined) },
    ];
  }
  return Array.isArray(artifact["abi"])
    ? [{ name, abi: artifact["abi"] as readonly AbiItem[], runtime: noCode }]
    : [];
}

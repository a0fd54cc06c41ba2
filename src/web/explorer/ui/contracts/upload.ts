import { type Hex, hexToBytes } from "../../../../base/primitives/hex.ts";
import { contractsOfBuild, type SolcInput, type SolcOutput } from "../../../../dev/artifacts/parse-artifact.ts";
import { type CodeMatch, compareCode, readUpload, sourcesOf, type UploadedContract } from "../../contracts/artifact.ts";
import { call, callIfOpen, RpcError } from "../rpc.ts";
import type { Recompiled, UploadedContractHere } from "./uploaded.ts";

const BEST_FIRST: readonly CodeMatch[] = ["exact", "same instructions", "no code", "different"];

/** A contract compiled by the node. */
type CompiledContract = UploadedContract & Pick<Recompiled, "compiler">;

/**
 * The contract in `files` whose code is closest to the deployed `code`, either uploaded or compiled by the node from its sources.
 * @returns `compilerError` if the node could not compile the sources
 * @throws SyntaxError for a file that is not JSON, and errors of the node
 */
export async function contractInFiles(
  files: readonly File[],
  code: Hex,
): Promise<{
  readonly contract: Omit<UploadedContractHere, "address"> | undefined;
  readonly compilerError: RpcError | undefined;
}> {
  const uploads = await Promise.all(files.map(async (file) => readUpload(await file.text(), file.name)));
  const inputs = uploads.flatMap(({ input }) => input ?? []);
  const { compiled, compilerError } = await compile(inputs);
  const uploaded = uploads.flatMap(({ contracts }) => contracts);
  const deployed = hexToBytes(code);
  const matchOf = ({ runtime }: UploadedContract) => compareCode(deployed, runtime);
  const [nearest] = [...compiled, ...uploaded].sort(
    (a, b) => BEST_FIRST.indexOf(matchOf(a)) - BEST_FIRST.indexOf(matchOf(b)),
  );
  if (nearest === undefined) return { contract: undefined, compilerError };
  const { name, abi } = nearest;
  const named = <T extends UploadedContract>(list: readonly T[]) =>
    list.includes(nearest as T) ? (nearest as T) : list.find((each) => each.name === name);
  const [own, made] = [named(uploaded), named(compiled)];
  const contract = {
    name,
    abi,
    match: own === undefined ? ("no code" as const) : matchOf(own),
    recompiled: made && { match: matchOf(made), compiler: made.compiler },
    sources: inputs.map((input) => sourcesOf(input, name))[0] ?? {},
  };
  return { contract, compilerError };
}

type Compiled = { readonly compilerVersion: string } & SolcOutput;

/** Contracts that the node compiles from `inputs`; empty if it has no compiler. */
async function compile(inputs: readonly SolcInput[]): Promise<{
  readonly compiled: readonly CompiledContract[];
  readonly compilerError: RpcError | undefined;
}> {
  const none = { compiled: [], compilerError: undefined };
  if (inputs.length === 0) return none;
  const compilers = await callIfOpen<readonly string[]>("eth_getCompilers");
  if (!compilers?.includes("solidity")) return none;
  try {
    const outputs = await Promise.all(inputs.map((input) => call<Compiled>("eth_compileStandardJson", input)));
    const compiled = outputs.flatMap(({ compilerVersion: compiler, ...output }) =>
      contractsOfBuild({}, output).map((contract) => ({ ...contract, compiler })),
    );
    return { ...none, compiled };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { ...none, compilerError: error };
  }
}

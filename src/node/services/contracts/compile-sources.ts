import { equalBytes } from "../../../base/primitives/bytes.ts";
import { bytesToHex, type Hex, hexToBytes } from "../../../base/primitives/hex.ts";
import type { Contract } from "../../../dev/artifacts/contracts.ts";
import { withPlaceholders } from "../../../dev/artifacts/contracts.ts";
import { contractsOfBuild, type SolcInput, type SolcOutput } from "../../../dev/artifacts/parse-artifact.ts";
import type { ContractMatch } from "../../../rpc/ports/contracts.ts";
import type { Compiler } from "../../../rpc/ports/tools.ts";
import { compareCode } from "../../../web/explorer/contracts/artifact.ts";
import { ContractVerificationError } from "./contract-verification-error.ts";
import { VERIFIED_CONTRACT_LIMITS } from "./verified-contracts.ts";

/** Outputs for the compared contract. */
const OUTPUTS = [
  "abi",
  "evm.bytecode.object",
  "evm.bytecode.linkReferences",
  "evm.deployedBytecode.object",
  "evm.deployedBytecode.immutableReferences",
  "evm.deployedBytecode.linkReferences",
];

/** A version without its platform suffix: `0.8.30+commit.73712a01`. */
const VERSION = /^v?(\d+\.\d+\.\d+)(\+commit\.[0-9a-f]{8})?(?:\..*)?$/;

type CompiledContract = {
  readonly contract: Contract;
  readonly compiled: { readonly abi: readonly object[]; readonly evm: { readonly deployedBytecode: object } };
};

/**
 * Reduces standard JSON to what solc reads and this node compiles: sources with inline content, and settings except those that choose the output
 * or call other programs.
 * @throws ContractVerificationError
 */
export function checkedInput(input: SolcInput): SolcInput {
  const { language, sources = {}, settings = {} } = input;
  if (language !== "Solidity") throw new ContractVerificationError("only Solidity is supported");
  const { filesMax, inputBytesMax, nameCharsMax } = VERIFIED_CONTRACT_LIMITS;
  const files = Object.entries(Object(sources) as NonNullable<SolcInput["sources"]>);
  if (files.length === 0) throw new ContractVerificationError("the standard JSON has no sources");
  if (files.length > filesMax) throw new ContractVerificationError(`more than ${filesMax} files`);
  const texts = files.map(([path, source]) => {
    if (path.length > nameCharsMax) throw new ContractVerificationError("the path of a source is too long");
    const content: unknown = Object(source).content;
    if (typeof content !== "string") {
      throw new ContractVerificationError(`the standard JSON lacks the content of ${path}; URLs are not supported`);
    }
    return [path, { content }] as const;
  });
  const { outputSelection: _, modelChecker: __, ...rest } = Object(settings) as Readonly<Record<string, unknown>>;
  const checked = { language, sources: Object.fromEntries(texts), settings: rest };
  if (Buffer.byteLength(JSON.stringify(checked)) > inputBytesMax) {
    throw new ContractVerificationError(`the standard JSON has more than ${inputBytesMax} bytes`);
  }
  return checked;
}

/** @throws ContractVerificationError unless `wanted` is the version of the node's compiler */
export async function assertCompiler(wanted: string, compiler: Pick<Compiler, "compilerVersion">): Promise<string> {
  const installed = await compiler.compilerVersion();
  const [, number, commit = ""] = VERSION.exec(wanted) ?? [];
  if (number === undefined) throw new ContractVerificationError(`${JSON.stringify(wanted)} is not a version of solc`);
  if (installed === undefined) {
    throw new ContractVerificationError(
      `this node has no compiler: install the npm package solc@${number} next to it (and set json-rpc.compile-solidity)`,
    );
  }
  const [, ownNumber, ownCommit = ""] = VERSION.exec(installed) ?? [];
  if (number === ownNumber && (commit === "" || commit === ownCommit)) return `${ownNumber}${ownCommit}`;
  throw new ContractVerificationError(
    `the contract needs solc ${number}${commit}, but this node has ${ownNumber}${ownCommit}: install the npm package solc@${number} next to it`,
  );
}

/**
 * Where `contract`, `path:Name` or a bare name, is declared.
 * @throws ContractVerificationError if `input` has no such file, or several files declare a bare name
 */
export function declarationOf(
  contract: string,
  { sources = {} }: SolcInput,
): { readonly file: string; readonly name: string } {
  const { nameCharsMax } = VERIFIED_CONTRACT_LIMITS;
  if (contract.length > nameCharsMax) throw new ContractVerificationError("the name of the contract is too long");
  const colon = contract.lastIndexOf(":");
  const name = contract.slice(colon + 1);
  if (name === "") throw new ContractVerificationError("the contract has no name");
  if (colon !== -1) {
    const file = contract.slice(0, colon);
    if (sources[file] === undefined) throw new ContractVerificationError(`the standard JSON has no source ${file}`);
    return { file, name };
  }
  const declares = new RegExp(`\\b(?:contract|library)\\s+${name.replace(/[^\w$]/g, "").replaceAll("$", "\\$")}\\b`);
  const files = Object.entries(sources).filter(([, { content = "" }]) => declares.test(content));
  if (files.length !== 1) {
    throw new ContractVerificationError(`${files.length} sources declare ${name}: name it as path:${name}`);
  }
  return { file: files[0]![0], name };
}

/** Compiles the contract with the node's compiler. @throws CompilerError, ContractVerificationError */
export async function compileContract(
  input: SolcInput,
  { file, name }: { readonly file: string; readonly name: string },
  compiler: Pick<Compiler, "compile">,
): Promise<CompiledContract> {
  const settings = { ...input.settings, outputSelection: { [file]: { [name]: OUTPUTS } } };
  const output = (await compiler.compile({ ...input, settings })) as SolcOutput;
  const compiled = output.contracts?.[file]?.[name] as CompiledContract["compiled"] | undefined;
  const [contract] = contractsOfBuild({}, { contracts: { [file]: { [name]: (compiled ?? {}) as never } } });
  if (compiled === undefined || contract === undefined) {
    throw new ContractVerificationError(`${file} does not declare a contract ${name}`);
  }
  const { abi, evm } = compiled;
  return { contract, compiled: { abi, evm: { deployedBytecode: evm.deployedBytecode } } };
}

/** @throws ContractVerificationError if `deployed` is not the code of `contract` */
export function matchOf(deployed: Uint8Array, { name, runtime }: Contract): ContractMatch {
  const match = compareCode(deployed, runtime);
  if (match === "exact" || match === "same instructions") return match;
  if (match === "no code") throw new ContractVerificationError(`${name} has no code: it is abstract or an interface`);
  const lengths = `${runtime.bytes.length} bytes, the deployed code has ${deployed.length}`;
  throw new ContractVerificationError(
    `the deployed code differs from ${name}: the source, the settings or the compiler version is different (compiled: ${lengths})`,
  );
}

/**
 * The arguments after the constructor's code in `initCode`; undefined if it begins with other code.
 * @throws ContractVerificationError if different arguments are `claimed`
 */
export function constructorArguments(
  initCode: Hex,
  { creation, name }: Contract,
  claimed: Hex | undefined,
): Hex | undefined {
  const bytes = hexToBytes(initCode);
  const code = bytes.subarray(0, creation.bytes.length);
  if (!equalBytes(withPlaceholders(code, creation), creation.bytes)) return undefined;
  const found = bytesToHex(bytes.subarray(creation.bytes.length));
  if (claimed === undefined || claimed === found) return found;
  throw new ContractVerificationError(
    `the constructor of ${name} was called with the arguments ${clipped(found)}, not ${clipped(claimed)}`,
  );
}

const SHOWN_CHARS = 200;

function clipped(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

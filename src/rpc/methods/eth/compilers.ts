import { isJsonObject } from "../../../base/primitives/shape.ts";
import type { Compiler } from "../../ports/tools.ts";
import { array, json, type ParamCodec, string } from "../../transport/codec.ts";
import { CompilerError, InvalidValueError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";

/** `eth_getCompilers`: the languages whose compilers are installed and load. */
export const getCompilers = defineMethod({
  name: "eth_getCompilers",
  params: {},
  result: array(string),
  handle: async (_params, { tools }) => ((await tools.compilerVersion()) === undefined ? [] : ["solidity"]),
});

const FILE = "source.sol";

type CompiledContract = {
  readonly abi: readonly object[];
  readonly userdoc: object;
  readonly devdoc: object;
  readonly evm: { readonly bytecode: { readonly object: string } };
};

/**
 * `eth_compileSolidity`: every contract of `source` by name, with creation bytecode, ABI and documentation.
 *
 * @throws CompilerError with the compiler's own words, CompilerBusyError
 */
export const compileSolidity = defineMethod({
  name: "eth_compileSolidity",
  params: { source: string },
  example: ["contract Empty {}"],
  result: json,
  async handle({ source }, { tools }) {
    if (source === "") throw new CompilerError("solc: empty source string");
    const version = await compilerVersion(tools);
    const { contracts = {} } = await tools.compile({
      language: "Solidity",
      sources: { [FILE]: { content: source } },
      settings: {
        optimizer: { enabled: true, runs: 200 },
        outputSelection: { "*": { "*": ["abi", "userdoc", "devdoc", "evm.bytecode.object"] } },
      },
    });
    const compiled = contracts[FILE] as Readonly<Record<string, CompiledContract>> | undefined;
    const [languageVersion = version] = /^\d+\.\d+\.\d+/.exec(version) ?? [];
    const shown = Object.entries(compiled ?? {}).map(([name, { abi, userdoc, devdoc, evm }]) => {
      const info = {
        source,
        language: "Solidity",
        languageVersion,
        compilerVersion: languageVersion,
        compilerOptions: "--optimize",
        abiDefinition: abi,
        userDoc: userdoc,
        developerDoc: devdoc,
      };
      return [name, { code: `0x${evm.bytecode.object}`, info }] as const;
    });
    return Object.fromEntries(shown);
  },
});

/** What is compared with the code of a chain. */
const OUTPUTS = [
  "abi",
  "evm.deployedBytecode.object",
  "evm.deployedBytecode.immutableReferences",
  "evm.deployedBytecode.linkReferences",
];

type StandardJson = { readonly settings?: object };

const standardJson: ParamCodec<StandardJson> = {
  schema: {
    title: "StandardJsonInput",
    type: "object",
    properties: {
      language: { type: "string" },
      sources: { type: "object" },
      settings: { type: "object" },
    },
    required: ["language", "sources"],
  },
  decode(value) {
    if (isJsonObject(value) && isJsonObject(value["sources"])) return value;
    throw new InvalidValueError("input is not an object with language, sources and settings");
  },
};

/**
 * `eth_compileStandardJson`, of this node: compiles standard JSON `input` with the installed solc and its settings. Returns contracts by
 * file and name: ABI, deployed bytecode, and the positions of immutables and library addresses. The input's output selection is ignored.
 *
 * @throws CompilerError with the compiler's own words, CompilerBusyError
 * @see Solidity's documentation, "Compiler Input and Output JSON Description"
 */
export const compileStandardJson = defineMethod({
  name: "eth_compileStandardJson",
  params: { input: standardJson },
  example: [
    {
      language: "Solidity",
      sources: { "Empty.sol": { content: "contract Empty {}" } },
      settings: { optimizer: { enabled: true, runs: 200 } },
    },
  ],
  result: json,
  async handle({ input }, { tools }) {
    const version = await compilerVersion(tools);
    const settings = { ...input.settings, outputSelection: { "*": { "*": OUTPUTS } } };
    const { contracts = {} } = await tools.compile({ ...input, settings });
    return { compilerVersion: version, contracts };
  },
});

/**
 * `eth_compileLLL`: no compiler for LLL has been maintained since 2020.
 *
 * @throws CompilerError always
 */
export const compileLLL = defineMethod({
  name: "eth_compileLLL",
  params: { source: string },
  example: ["(returnlll (suicide (caller)))"],
  result: string,
  handle(): string {
    throw new CompilerError("compiler not available: lll");
  },
});

/**
 * `eth_compileSerpent`: no compiler for Serpent has been maintained since 2017.
 *
 * @throws CompilerError always
 */
export const compileSerpent = defineMethod({
  name: "eth_compileSerpent",
  params: { source: string },
  example: ["def main(a): return(a * 2)"],
  result: string,
  handle(): string {
    throw new CompilerError("compiler not available: serpent");
  },
});

/** Version of the Solidity compiler, as `0.8.35+commit.47b9dedd`. @throws CompilerError where none is installed */
async function compilerVersion(tools: Compiler): Promise<string> {
  const version = await tools.compilerVersion();
  if (version === undefined) throw new CompilerError("compiler not available: solidity");
  return version;
}

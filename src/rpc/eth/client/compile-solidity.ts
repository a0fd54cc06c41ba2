import { CompilerError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json, string } from "../../params/codec.ts";
import type { Compiler } from "../../ports/tools.ts";
import { compilerVersion } from "./compiler-version.ts";

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
  result: json,
  async handle({ source }, { tools }: { tools: Compiler }) {
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

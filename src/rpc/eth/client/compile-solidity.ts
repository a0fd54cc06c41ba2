import { CompilerError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json, string } from "../../params/codec.ts";
import type { Compiler } from "../../ports/tools.ts";

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
    const version = await tools.compilerVersion();
    if (version === undefined) throw new CompilerError("compiler not available: solidity");
    const compiled = await tools.compile(source);
    const [languageVersion = version] = /^\d+\.\d+\.\d+/.exec(version) ?? [];
    const shown = Object.entries(compiled).map(([name, contract]) => {
      const info = {
        source,
        language: "Solidity",
        languageVersion,
        compilerVersion: languageVersion,
        compilerOptions: "--optimize",
        abiDefinition: contract.abi,
        userDoc: contract.userDoc,
        developerDoc: contract.developerDoc,
      };
      return [name, { code: contract.code, info }] as const;
    });
    return Object.fromEntries(shown);
  },
});

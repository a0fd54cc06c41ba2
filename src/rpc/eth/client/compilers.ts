import { CompilerError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { array, json, string } from "../../params/codec.ts";
import type { Compiler } from "../../ports/execution.ts";

type Modules = { readonly compiler: Compiler };

/** `eth_getCompilers`: the languages whose compiler loads. */
export const getCompilers = defineMethod({
  name: "eth_getCompilers",
  params: {},
  result: array(string),
  handle: async (_params, { compiler }: Modules) =>
    (await compiler.version()) === undefined ? [] : ["solidity"],
});

/**
 * `eth_compileSolidity`: every contract of `source` by name, with creation bytecode, ABI and documentation.
 *
 * @throws CompilerError with the compiler's own words, CompilerBusyError
 */
export const compileSolidity = defineMethod({
  name: "eth_compileSolidity",
  params: { source: string },
  result: json,
  async handle({ source }, { compiler }: Modules) {
    if (source === "") throw new CompilerError("solc: empty source string");
    const version = await compiler.version();
    if (version === undefined) throw new CompilerError("compiler not available: solidity");
    const compiled = await compiler.compile(source);
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

/**
 * `eth_compileLLL`: no compiler for LLL has been maintained since 2020.
 *
 * @throws CompilerError always
 */
export const compileLLL = defineMethod({
  name: "eth_compileLLL",
  params: { source: string },
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
  result: string,
  handle(): string {
    throw new CompilerError("compiler not available: serpent");
  },
});

import { InvalidValueError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { json, type ParamCodec } from "../../params/codec.ts";
import type { Compiler } from "../../ports/tools.ts";
import { compilerVersion } from "./compiler-version.ts";

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
    if (isObject(value) && isObject(value["sources"])) return value;
    throw new InvalidValueError("input: an object with language, sources and settings is wanted");
  },
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * `eth_compileStandardJson`, of this node: contracts by file and name that the installed solc makes of standard JSON `input` with its
 * settings: ABI, deployed bytecode, and where immutables and addresses of libraries are in it. The input's output selection is not used.
 *
 * @throws CompilerError with the compiler's own words, CompilerBusyError
 * @see Solidity's documentation, "Compiler Input and Output JSON Description"
 */
export const compileStandardJson = defineMethod({
  name: "eth_compileStandardJson",
  params: { input: standardJson },
  result: json,
  async handle({ input }, { tools }: { tools: Compiler }) {
    const version = await compilerVersion(tools);
    const settings = { ...input.settings, outputSelection: { "*": { "*": OUTPUTS } } };
    const { contracts = {} } = await tools.compile({ ...input, settings });
    return { compilerVersion: version, contracts };
  },
});

import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { CompiledContract } from "../../rpc/ports/tools.ts";
import type { TaskReply } from "./serve-tasks.ts";

/** Source to compile, or nothing to learn the compiler's version. */
export type CompileInput = { readonly source?: string };
export type CompileResult = {
  readonly version: string;
  readonly contracts: Readonly<Record<string, CompiledContract>>;
};

type Solc = { compile(input: string): string; version(): string };

type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledOutput>>>>;
};

type CompiledOutput = {
  readonly abi: readonly object[];
  readonly userdoc: object;
  readonly devdoc: object;
  readonly evm: { readonly bytecode: { readonly object: string } };
};

const FILE = "source.sol";

function run({ source }: CompileInput): CompileResult {
  // No dependency of ours: those who want the compiler install it.
  const solc = createRequire(import.meta.url)("solc") as Solc;
  const version = solc.version();
  if (source === undefined) return { version, contracts: {} };
  const input = {
    language: "Solidity",
    sources: { [FILE]: { content: source } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["abi", "userdoc", "devdoc", "evm.bytecode.object"] } },
    },
  };
  // Without an import callback an import is an error of the source.
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const errors = output.errors?.filter(({ severity }) => severity === "error") ?? [];
  if (errors.length > 0) {
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage.trim()).join("\n"));
  }
  const contracts = Object.entries(output.contracts?.[FILE] ?? {}).map(
    ([name, { abi, userdoc, devdoc, evm }]) =>
      [
        name,
        { code: `0x${evm.bytecode.object}`, abi, userDoc: userdoc, developerDoc: devdoc },
      ] as const,
  );
  return { version, contracts: Object.fromEntries(contracts) };
}

function reply(input: CompileInput): TaskReply<CompileResult> {
  try {
    return { result: run(input) };
  } catch (error) {
    return { error: { message: error instanceof Error ? error.message : String(error) } };
  }
}

parentPort?.postMessage(reply(workerData as CompileInput));

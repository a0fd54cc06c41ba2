import { createRequire } from "node:module";
import { parentPort } from "node:worker_threads";
import { threadData } from "../../threads/native-calls.ts";
import type { TaskReply } from "./serve-tasks.ts";

/** Standard JSON to compile, or nothing to learn the compiler's version. */
export type CompileInput = { readonly input?: object };
/** `output` is standard JSON. */
export type CompileResult = { readonly version: string; readonly output: string };

type Solc = { compile(input: string): string; version(): string };

function run({ input }: CompileInput): CompileResult {
  // No dependency of ours: those who want the compiler install it.
  const solc = createRequire(import.meta.url)("solc") as Solc;
  const version = solc.version();
  if (input === undefined) return { version, output: "{}" };
  // Without an import callback an import is an error of the source: no file and no URL is read.
  return { version, output: solc.compile(JSON.stringify(input)) };
}

function reply(input: CompileInput): TaskReply<CompileResult> {
  try {
    return { result: run(input) };
  } catch (error) {
    return { error: { message: error instanceof Error ? error.message : String(error) } };
  }
}

parentPort?.postMessage(reply(threadData<CompileInput>()));

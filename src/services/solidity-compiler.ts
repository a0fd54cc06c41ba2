import type { Compiler, CompilerOutput } from "../rpc/ports/tools.ts";
import { CompilerBusyError, CompilerError } from "../rpc/transport/errors.ts";
import type { Timers } from "../telemetry/timers.ts";
import { Pool } from "../threads/pool.ts";
import type { Solidity } from "./compile-solidity.thread.ts";

/**
 * Loading takes a second or two, ten times as long on a busy machine, and most contracts less; an optimizer may run for ever.
 * Just below the time the calls of one HTTP request may take.
 */
const COMPILE_LIMITS = { timeoutMs: 29_000 };

/** Each source has a thread of its own: the compiler frees nothing. */
const THREAD = {
  entry: "services/compile-solidity.thread",
  count: 1,
  waitingMax: 7,
  heapMegabytesMax: 512,
  idleMs: 0,
} as const;

type Diagnostic = { readonly severity: string; readonly formattedMessage: string };

/** As where `solc` is not installed. */
const NO_COMPILER: Compiler = {
  compilerVersion: async () => undefined,
  compile: () => Promise.reject(new CompilerError("solc: not enabled")),
};

/**
 * The npm package `solc`, one source after the other.
 * @param isEnabled false: there is none, installed or not. A source is half a minute of work, which every caller may ask for
 */
export function createSolidityCompiler(isEnabled: boolean, timers: Timers): Compiler {
  if (!isEnabled) return NO_COMPILER;
  const threads = new Pool<Solidity>(THREAD, timers);
  let version: Promise<string | undefined> | undefined;
  return {
    /** In a thread of its own: it does not wait for sources. */
    compilerVersion() {
      version ??= new Pool<Solidity>(THREAD, timers).call("version", undefined, COMPILE_LIMITS).catch(() => undefined);
      return version;
    },
    async compile(input) {
      if (threads.isFull()) throw new CompilerBusyError();
      let output: string;
      try {
        output = await threads.call("compile", input, COMPILE_LIMITS);
      } catch (error) {
        const cause = error as Error;
        throw new CompilerError(`solc: ${cause.message}`, {}, { cause });
      }
      return outputOf(output);
    },
  };
}

/** @throws CompilerError */
function outputOf(text: string): CompilerOutput {
  const output = JSON.parse(text) as CompilerOutput & { readonly errors?: readonly Diagnostic[] };
  const errors = output.errors?.filter(({ severity }) => severity === "error") ?? [];
  if (errors.length === 0) return output;
  const texts = errors.map(({ formattedMessage }) => formattedMessage.trim());
  throw new CompilerError(`solc: ${texts.join("\n")}`);
}

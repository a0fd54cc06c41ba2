import type { Compiler, CompilerOutput } from "../../rpc/ports/tools.ts";
import { CompilerBusyError, CompilerError } from "../../rpc/transport/errors.ts";
import type { CompileResult } from "../workers/compile-solidity.ts";
import { runInWorker } from "../workers/run-in-worker.ts";
import { WorkerTaskError } from "../workers/worker-task-error.ts";

/**
 * Loading takes a second or two, ten times as long on a busy machine, and most contracts less; an optimizer may run for ever.
 * Just below the time the calls of one HTTP request may take.
 */
const LIMITS = { timeoutMs: 29_000, heapMegabytesMax: 512 };

/** Sources that may wait while one is compiled. */
const WAITING_MAX = 8;

type Diagnostic = { readonly severity: string; readonly formattedMessage: string };

/** As where `solc` is not installed. */
const NO_COMPILER: Compiler = {
  compilerVersion: async () => undefined,
  compile: () => Promise.reject(new CompilerError("solc: not enabled")),
};

/**
 * The npm package `solc`, each source in a thread of its own, one after the other.
 * @param isEnabled false: there is none, installed or not. A source is half a minute of work, which every caller may ask for
 */
export function createSolidityCompiler(isEnabled: boolean): Compiler {
  if (!isEnabled) return NO_COMPILER;
  let version: Promise<string | undefined> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const compile = (input: object) => runInWorker<CompileResult>("compile-solidity", input, LIMITS);

  /** undefined where it is not installed or does not load */
  const loadedVersion = (): Promise<string | undefined> => {
    version ??= compile({}).then(
      (result) => result.version,
      () => undefined,
    );
    return version;
  };

  return {
    compilerVersion: loadedVersion,
    async compile(input) {
      if (waiting >= WAITING_MAX) throw new CompilerBusyError();
      waiting++;
      const mine = last.then(() => compile({ input }));
      last = mine.catch(() => {});
      try {
        return outputOf((await mine).output);
      } catch (cause) {
        if (!(cause instanceof WorkerTaskError)) throw cause;
        throw new CompilerError(`solc: ${cause.message}`, {}, { cause });
      } finally {
        waiting--;
      }
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

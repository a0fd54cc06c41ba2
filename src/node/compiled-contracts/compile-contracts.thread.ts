import type { Hardfork } from "../../base/params/hardforks.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { serveThread } from "../../base/threads/serve-thread.ts";
import { lowerThreadPriority } from "../../base/threads/thread-priority.ts";
import { compileOptimised } from "../../base/wasm/compile.ts";
import { ContractEmitter } from "../../evm/machine/gen/compiled/contract.ts";
import { fingerprintOf } from "../../evm/machine/gen/fingerprint.ts";
import { rulesOf } from "../../evm/machine/rules.ts";
import { ModuleFiles } from "./module-files.ts";

export type CompileInput = {
  readonly hash: Hash;
  readonly code: Uint8Array;
  readonly hardfork: Hardfork;
  /** Where emitted modules are stored, and the maximum size of all; undefined: nowhere */
  readonly files: { readonly directory: string; readonly bytesMax: number } | undefined;
};

export type CompileResult = {
  /** undefined: the module would be too large. */
  readonly compiled: { readonly module: WebAssembly.Module; readonly bytes: number } | undefined;
  readonly isFromFile: boolean;
  /** Size of all files, if one was written. */
  readonly fileBytes: number;
  /** Why a file could not be read or written. */
  readonly fileError: string | undefined;
};

/** Threads that serve connections get nine times the CPU share of this one; an idle processor runs it at full speed. */
const NICE = 10;

/** The emitter for one fork, and the files of its output. */
class ForkCompiler {
  readonly #emitter: ContractEmitter;
  readonly #files: ModuleFiles | undefined;
  /** File names begin with the fork and a fingerprint of the emitter, so that versions do not share files. */
  readonly #prefix: string;

  constructor(hardfork: Hardfork, files: ModuleFiles | undefined) {
    const rules = rulesOf(hardfork);
    this.#emitter = new ContractEmitter(rules);
    this.#files = files;
    this.#prefix = files ? `${hardfork}-${fingerprintOf(rules, this.#emitter).slice(2, 18)}` : "";
  }

  compile(hash: Hash, code: Uint8Array): CompileResult {
    const name = `${this.#prefix}-${hash.slice(2)}`;
    const errors: unknown[] = [];
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work();
      } catch (error) {
        errors.push(error);
        return undefined;
      }
    };
    const stored = attempt(() => this.#files?.read(name));
    const bytes = stored ?? this.#emitter.emit(code);
    if (bytes && !stored) attempt(() => this.#files?.write(name, bytes));
    return {
      // The requesting thread shares the module and its machine code.
      compiled: bytes && { module: compileOptimised(bytes, { threads: 1 }), bytes: bytes.length },
      isFromFile: stored !== undefined,
      fileBytes: this.#files?.bytes ?? 0,
      fileError: errors.length === 0 ? undefined : String(errors[0]),
    };
  }
}

lowerThreadPriority(NICE);

const compilers = new Map<Hardfork, ForkCompiler>();
let moduleFiles: ModuleFiles | undefined;

const contracts = { compile };
export type ContractCompilation = typeof contracts;
serveThread(contracts);

function compile({ hash, code, hardfork, files }: CompileInput): CompileResult {
  if (files) moduleFiles ??= new ModuleFiles(files.directory, files.bytesMax);
  const compiler = compilers.get(hardfork) ?? new ForkCompiler(hardfork, moduleFiles);
  compilers.set(hardfork, compiler);
  return compiler.compile(hash, code);
}

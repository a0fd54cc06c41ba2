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
  /** Where emitted modules are stored, and how many bytes of them; undefined: nowhere */
  readonly files: { readonly directory: string; readonly bytesMax: number } | undefined;
};

export type CompileResult = {
  /** undefined: the contract would become too large a module. */
  readonly compiled: { readonly module: WebAssembly.Module; readonly bytes: number } | undefined;
  readonly isFromFile: boolean;
  /** Of all files, where one was written. */
  readonly fileBytes: number;
  /** Why a file could not be read or written. */
  readonly fileError: string | undefined;
};

/** A thread that serves connections gets nine times as much of a processor as this one; a processor that no other needs is its own. */
const NICE = 10;

/** The emitter of a fork, and the store of its output. */
class ForkCompiler {
  readonly #emitter: ContractEmitter;
  readonly #files: ModuleFiles | undefined;
  /** Names of files begin with the fork and what its emitter is like: another version has other files. */
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
      // The module is shared with the thread that asked, and with it its machine code.
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
